// chrome_speedscope_viewers.mjs MODULES LIST CHROMIUM: opens the Chrome JSON files that LIST names, one a line, in the page
// of the package speedscope below MODULES.  Its table has one row for each name with equal arguments, and some row stands
// for several calls.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const [modules, list, chromium] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'index.js'));
const release = path.resolve(modules, 'node_modules/speedscope/dist/release');
let failed = 0, opened = 0, added = 0;
const fail = (file, why) => { console.log(`${file}: ${why}`); failed = 1; };
const key = e => e.name + (e.args ? ' ' + JSON.stringify(e.args) : '');

// Calls by what the page calls them, for each thread.
function threads(events) {
	const out = new Map();
	for (const e of events.filter(e => e.ph === 'X')) {
		const id = `${e.pid}/${e.tid}`, calls = out.get(id) || new Map();
		calls.set(key(e), (calls.get(key(e)) || 0) + 1);
		out.set(id, calls);
	}
	return [...out.values()];
}

async function open(browser, file) {
	const all = threads(JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents);
	if (all.length === 0)
		return;
	const page = await browser.newPage(), script = path.join(path.dirname(path.resolve(list)), 'profile.js');
	fs.writeFileSync(script, `speedscope.loadFileFromBase64("a.json", "${fs.readFileSync(file).toString('base64')}")`);
	page.on('dialog', d => { fail(file, d.message()); d.dismiss(); });
	page.on('pageerror', e => fail(file, e.message));
	await page.setViewport({ width: 1200, height: 900 });
	await page.goto(`file://${release}/index.html#localProfilePath=${script}`);
	await page.waitForFunction(() => document.title !== 'speedscope', { timeout: 15000 });
	await page.keyboard.press('3');
	await page.waitForSelector('table tr td', { timeout: 15000 });
	const rows = await page.$$eval('table tr', trs => trs.map(tr => [...tr.querySelectorAll('td')].map(td => td.textContent)));
	const names = rows.filter(r => r.length === 3 && /\(.*%\)$/.test(r[0])).map(r => r[2]);
	// the page shows one thread, and of a long table its first rows
	const shown = all.find(calls => names.every(n => calls.has(n)) && names.length >= Math.min(calls.size, 20));
	if (names.length === 0 || !shown)
		fail(file, `the table has ${names.length} rows that are not those of a thread: ${names.slice(0, 3)}`);
	else if ([...shown.values()].some(n => n > 1))
		added++;
	if (names.some(n => /"(id|event_id|stream_counter)":/.test(n)))
		fail(file, `calls are told apart by their numbers: ${names[0]}`);
	opened++;
	await page.close();
}

const puppeteer = require('puppeteer-core');
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox'] });
for (const file of fs.readFileSync(list, 'utf8').split('\n').filter(Boolean))
	try {
		await open(browser, file);
	} catch (e) {
		fail(file, `the page does not open it: ${e.message}`);
	}
await browser.close();
console.log(`chrome: ${opened} outputs opened in the page of speedscope, ${added} with calls that are added up`);
process.exit(failed || opened === 0 || added === 0 ? 1 : 0);
