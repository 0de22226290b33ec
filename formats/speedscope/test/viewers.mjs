// viewers.mjs MODULES LIST [CHROMIUM]: checks the files in LIST, one per line, with the schema of the package speedscope
// in MODULES, and opens each that has a profile in its page, which must show no error, the name of the profile, and
// its frames with their times.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const [modules, list, chromium] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'index.js'));
const release = path.resolve(modules, 'node_modules/speedscope/dist/release');
const files = fs.readFileSync(list, 'utf8').split('\n').filter(Boolean);
let failed = 0;
const fail = (file, why) => { console.log(`${file}: ${why}`); failed = 1; };

const Ajv = require('ajv').default;
const validate = new Ajv({ strict: false }).compile(
	JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'), 'utf8')));
const read = file => JSON.parse(fs.readFileSync(file, 'utf8'));
for (const file of files)
	if (!validate(read(file)))
		fail(file, JSON.stringify(validate.errors[0]));
console.log(`speedscope: ${files.length} outputs follow the schema of the package`);

// Returns frame -> [total, self] of the active profile, in ns.
function times(json) {
	const p = json.profiles[json.activeProfileIndex];
	const out = new Map(), stack = [];
	for (const e of p.events) {
		if (e.type === 'O') {
			stack.push({ frame: e.frame, at: e.at, inner: 0 });
			continue;
		}
		const o = stack.pop(), took = e.at - o.at, row = out.get(o.frame) || [0, 0];
		if (!stack.some(s => s.frame === o.frame))
			row[0] += took;
		row[1] += took - o.inner;
		out.set(o.frame, row);
		if (stack.length > 0)
			stack[stack.length - 1].inner += took;
	}
	return out;
}

// Returns the time in which a frame of the profile is open, in ns.
function busy(p) {
	let depth = 0, since = 0, sum = 0;
	for (const e of p.events) {
		if (e.type === 'O' && depth++ === 0)
			since = e.at;
		if (e.type === 'C' && --depth === 0)
			sum += e.at - since;
	}
	return sum;
}

// Converts "1.23ms", "345ns", "1.00s" to ns.
function nanoseconds(text) {
	const m = /^([\d.,]+)\s*(ns|[µμu]s|ms|s)/.exec(text);
	if (!m)
		return NaN;
	return parseFloat(m[1].replace(/,/g, '')) * { ns: 1, ms: 1e6, s: 1e9 }[m[2]] || parseFloat(m[1]) * 1e3;
}

async function open(browser, file) {
	const json = read(file), page = await browser.newPage();
	const script = path.join(path.dirname(path.resolve(list)), 'profile.js');
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, ` +
		`"${fs.readFileSync(file).toString('base64')}")`);
	page.on('dialog', d => { fail(file, d.message()); d.dismiss(); });
	page.on('pageerror', e => fail(file, e.message));
	await page.setViewport({ width: 1200, height: 900 });
	await page.goto(`file://${release}/index.html#localProfilePath=${script}`);
	await page.waitForFunction(n => document.title.startsWith(n + ' '), { timeout: 15000 }, json.name);
	await page.keyboard.press('3');
	await page.waitForSelector('table tr td', { timeout: 15000 });
	const rows = await page.$$eval('table tr', trs => trs.map(tr => [...tr.querySelectorAll('td')].map(td => td.textContent)));
	const want = times(json);
	// the page shows three digits; frames may have equal names
	const near = (text, ns) => Math.abs(nanoseconds(text) - ns) <= Math.max(10, 0.01 * ns);
	const functions = rows.filter(r => r.length === 3 && /\(.*%\)$/.test(r[0]));
	for (const [total, self, name] of functions)
		if (![...want].some(([f, w]) => json.shared.frames[f].name === name && near(total, w[0]) && near(self, w[1])))
			fail(file, `no frame of the profile is "${name}" with ${total} and ${self}`);
	if (functions.length < Math.min(want.size, 20))
		fail(file, `the page has ${functions.length} functions, not ${want.size}`);
	const profiles = rows.filter(r => r.length === 3 && /^\d+$/.test(r[0]));
	for (const [number, name, total] of profiles) {
		const p = json.profiles[number - 1];
		if (p.name !== name || (p.type === 'evented' && !near(total, busy(p))))
			fail(file, `profile ${number} is "${name}" of ${total} in the page`);
	}
	await page.close();
}

if (chromium) {
	const puppeteer = require('puppeteer-core');
	const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox'] });
	let opened = 0;
	for (const file of files) {
		const json = read(file), p = json.profiles[json.activeProfileIndex];
		if (!p || p.type !== 'evented' || opened >= 4)
			continue;
		opened++;
		try {
			await open(browser, file);
		} catch (e) {
			fail(file, `the page does not open it: ${e.message}`);
		}
	}
	await browser.close();
	console.log(`speedscope: ${opened} profiles opened in its page`);
	if (opened === 0)
		failed = 1;
}
process.exit(failed);
