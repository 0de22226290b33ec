// page.mjs MODULES CHROMIUM FOLDER [SHOTS]: opens the pages that FOLDER/pages names, and uses them as a person would.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const [modules, chromium, folder, shots] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'index.js'));
const puppeteer = require('puppeteer-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
let failed = 0;
const fail = (name, why) => { console.log(`${name}: ${why}`); failed = 1; };

async function open(browser, name) {
	const page = await browser.newPage();
	page.on('console', m => fail(name, `console: ${m.text()}`));
	page.on('pageerror', e => fail(name, `error: ${e.message}`));
	page.on('dialog', d => { fail(name, 'a dialog'); d.dismiss(); });
	page.on('request', r => { if (!/^(file|data):/.test(r.url())) fail(name, `a request: ${r.url()}`); });
	await page.setViewport({ width: 1280, height: 900 });
	await page.evaluateOnNewDocument(() => {
		const put = CanvasRenderingContext2D.prototype.fillText;
		window.written = [];
		CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
			window.written.push({ text, x, y, end: x + this.measureText(text).width });
			put.call(this, text, x, y);
		};
	});
	const begun = Date.now();
	await page.goto('file://' + path.resolve(folder, name + '.html'));
	await page.waitForSelector('html[data-ready]', { timeout: 20000 });
	const took = Date.now() - begun;
	return { page, took };
}

async function violations(page, name, scheme) {
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	const found = await page.evaluate(async text => {
		(0, eval)(text);
		return (await axe.run()).violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`);
	}, axe);
	found.forEach(v => fail(name, `${scheme}: ${v}`));
}

const press = async (page, keys) => { for (const k of keys) await page.keyboard.press(k); };
const rest = ms => new Promise(done => setTimeout(done, ms));

async function useTimeline(page, name) {
	const box = '#timeline-picture .stage', range = '#timeline-picture .tools .range';
	if (!await page.$(box))
		return;
	const text = () => page.$eval(range, e => e.textContent);
	const before = await text();
	if (name === 'days' && !before.endsWith(': 90\u2009128 s'))
		fail(name, `the time of the trace: ${before}`);
	await page.focus(box);
	await press(page, ['+', '+', '+', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp']);
	await rest(400);
	const after = await text();
	if (before === after && !/: (1|2|20|0)?\d* ns$/.test(before))
		fail(name, `keys do not zoom: ${before}`);
	if (!await page.$eval('#timeline-picture [role=status]', e => e.textContent))
		fail(name, 'the timeline says nothing');
	await press(page, Array(60).fill('+'));
	await rest(100);
	const nearest = await text();
	await press(page, ['+', '+', '+']);
	await rest(100);
	const [from, to] = nearest.split(/ to |: /);
	if (await text() !== nearest)
		fail(name, `zooming moves the shortest window: ${nearest}, ${await text()}`);
	if (from === to)
		fail(name, `the ends of a window are not told apart: ${nearest}`);
	const at = await page.$eval(box, e => { const r = e.getBoundingClientRect(); return { x: r.x + r.width * 0.7, y: r.y + 70 }; });
	await page.mouse.move(at.x, at.y);
	for (let i = 0; i < 6; i++)
		await page.mouse.wheel({ deltaY: i < 3 ? -100 : 100 });
	await page.mouse.down();
	await page.mouse.move(at.x + 60, at.y, { steps: 4 });
	await page.mouse.up();
	await rest(100);
	await press(page, ['0']);
	await rest(100);
	if (await text() !== before)
		fail(name, `0 does not show the whole trace: ${await text()}`);
}

// Keys of the browser, a wheel that moves sideways, a drag that ends outside, a chosen track, labels, and hover texts.
async function useNames(page, name) {
	if (name !== 'names')
		return;
	const picture = '#timeline-picture', text = () => page.$eval(picture + ' .tools .range', e => e.textContent);
	const r = await page.$eval(picture + ' .stage', e => { e.scrollIntoView(); e.focus(); const b = e.getBoundingClientRect(); return { x: b.x + 1, y: b.y + 1, width: e.clientWidth, height: b.height }; });
	const left = r.x + Math.min(220, Math.floor(r.width / 3)), width = r.x + r.width - 4 - left;
	const spans = [['L', 0, 100], ['\u{1f600}', 100000, 20000], ['next', 120000, 30000], ['inside', 125000, 5000], ['last', 1000000000, 1000]];
	await page.keyboard.down('Control');
	await press(page, ['+']);
	await page.keyboard.up('Control');
	await rest(50);
	if (await text() !== '0 ns to 1.00 s: 1.000 s')
		fail(name, `keys of the browser zoom the timeline: ${await text()}`);
	await page.mouse.move(left + width / 2, r.y + 70);
	await press(page, ['+']);
	await page.mouse.wheel({ deltaX: r.width / 2 });
	await rest(100);
	if (!/^500 ms to 1\.000 s: 500\.0 ms$/.test(await text()))
		fail(name, `a wheel to the right shows ${await text()}`);
	await press(page, ['0']);
	await page.mouse.down();
	await page.mouse.move(r.x - 5, r.y + 70, { steps: 3 });
	await page.mouse.up();
	await rest(50);
	if (!/^0 ns to (499|500|501) ms: /.test(await text()))
		fail(name, `a drag beyond the picture shows ${await text()}`);
	for (const [keys, back, from, to] of [[0, '-', 0, 1000001000], [28, '-', 0, 0], [12, 'ArrowLeft', 0, 244140.869], [13, 'ArrowLeft', 0, 122070.434]]) {
		await press(page, ['0']);
		for (let i = 0; i < keys; i++)
			await press(page, back === '-' ? ['+'] : ['ArrowLeft', '+', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']);
		await rest(50);
		const before = await page.evaluate(() => window.written.length);
		for (let i = 0; i < (back === '-' ? 12 : 1); i++) {
			await press(page, [back]);
			await rest(50);
		}
		const labels = await page.evaluate(n => window.written.slice(n).filter(w => w.y === 44), before); // from left to right, again and again
		if (labels.length < 2 || labels.some((l, i) => i > 0 && l.x > labels[i - 1].x && l.x < labels[i - 1].end))
			fail(name, `labels of times: ${labels.map(l => `${l.text} at ${l.x}`)}`);
		for (const [what, start, dur] of to > 0 ? spans : [])
			for (const inside of [0, 0.5, 0.9]) {
				const x = Math.ceil(left + (start + dur * inside - from) / (to - from) * width);
				if (dur / (to - from) * width < 8 || x > left + width)
					continue;
				for (const y of what === 'inside' ? [58 + 10, 58 + 26 + 1 + 19] : [58 + 26 + 1 + 6]) { // its strip, its row
					await page.mouse.move(x, r.y + y);
					const said = await page.$eval('.tip', e => e.textContent.replace(/\u2009/g, ''));
					if (!said.startsWith(what) || !said.includes(`duration ${dur} ns\nstart ${start} ns`))
						fail(name, `at ${inside} of ${what}, ${keys} times zoomed, the picture says ${said}`);
				}
			}
	}
	await page.focus(picture + ' .stage');
	await press(page, ['0', 'ArrowDown']);
	await page.mouse.move(left - 9, r.y + 70);
	if (!/\n35 spans$/.test(await page.$eval('.tip', e => e.textContent)))
		fail(name, `the name of a track says ${await page.$eval('.tip', e => e.textContent)}`);
	await rest(50);
	if (!await page.$eval(picture + ' .stage', (e, before) => e.getBoundingClientRect().height > before + 200, r.height))
		fail(name, 'the chosen track does not show all rows');
	// A counter that is out of sight while the time moves: 1, 5 and 2 at the beginning, 2 at the end.
	await page.setViewport({ width: 1280, height: 300 });
	await page.$eval(picture + ' .stage', e => e.scrollIntoView());
	await press(page, ['+', '+', '+']);
	await page.$eval('#counters-picture canvas', e => e.scrollIntoView());
	await rest(150);
	const line = await page.$eval('#counters-picture canvas', e => {
		const column = e.getContext('2d').getImageData(0, 0, 1, e.height).data;
		return column.findIndex((v, i) => i % 4 === 0 && v !== column[0]) / 4;
	});
	if (line !== 40)
		fail(name, `the line of a counter: ${line}`);
	await page.focus(picture + ' .stage');
	await press(page, ['0']);
	await page.setViewport({ width: 1280, height: 900 });
}

async function useStacks(page, name, picture) {
	const box = picture + ' .stage';
	if (!await page.$(box))
		return;
	await page.type(picture + ' input[type=search]', 'e');
	await rest(100);
	const found = await page.$eval(picture + ' .tools .range', e => e.textContent);
	const match = /^boxes that match: ([\d\u2009]+), ([\d.]+) %/.exec(found);
	if (!match || Number(match[2]) > 100)
		fail(name, `searching stacks says: ${found}`);
	else if (name === 'names' && match[1] !== '33')
		fail(name, `not all boxes that match are counted: ${found}`);
	await page.focus(box);
	await press(page, ['ArrowDown', 'ArrowRight', 'ArrowDown', 'Enter', 'ArrowUp', 'Escape']);
	await rest(400);
	const said = await page.$eval(picture + ' [role=status]', e => e.textContent);
	if (!/self/.test(said) || /\b1 (spans|samples)\b/.test(said))
		fail(name, `the stacks say: ${said}`);
}

async function useTable(page, name) {
	if (!await page.$('#spans-picture table'))
		return;
	await page.evaluate(() => [...document.querySelectorAll('#spans-picture th button')].find(b => b.textContent === 'count').click());
	const counts = await page.$$eval('#spans-picture tbody tr', rows => rows.map(r => Number(r.cells[2].textContent.replace(/\D/g, ''))));
	if (counts.some((v, i) => i > 0 && v > counts[i - 1]))
		fail(name, `not sorted by count: ${counts.slice(0, 5)}`);
	if (await page.$eval('#spans-picture th[aria-sort]', e => e.getAttribute('aria-sort')) !== 'descending')
		fail(name, 'aria-sort');
	await page.type('#spans-picture input[type=search]', 'zzzzqq');
	if (!/^0 of [\d\u2009]+ rows match/.test(await page.$eval('#spans-picture [role=status]', e => e.textContent)))
		fail(name, 'the filter');
	await page.$eval('#spans-picture input[type=search]', e => { e.value = ''; e.dispatchEvent(new Event('input')); });
}

// The figures of the page are those of stats.
async function compare(page, name) {
	const file = path.join(folder, name + '.stats');
	if (!fs.existsSync(file) || fs.statSync(file).size === 0)
		return;
	const stats = JSON.parse(fs.readFileSync(file, 'utf8')).inputs[0];
	const rows = await page.evaluate(() => (JSON.parse(document.getElementById('data').textContent) || { rows: [] }).rows);
	if (!stats)
		return;
	const key = r => [r.count, r.total, r.self, r.max, r.p50, r.p99].join(' ');
	const ours = rows.map(r => key({ count: r[3], total: r[4], self: r[5], max: r[11], p50: r[8], p99: r[10] })).sort();
	const theirs = [...stats.spans, ...stats.async_spans].map(s => key({ count: s.count, total: s.total_ns ?? s.dur_ns.sum,
		self: s.self_ns ?? 0, max: s.dur_ns.max, p50: s.dur_ns.p50, p99: s.dur_ns.p99 }));
	const set = new Map();
	theirs.forEach(k => set.set(k, (set.get(k) || 0) + 1));
	for (const k of ours) {
		if (!set.get(k))
			return fail(name, `a row that stats does not have: ${k}`);
		set.set(k, set.get(k) - 1);
	}
	if (ours.length !== theirs.length && ours.length < 1000)
		fail(name, `${ours.length} rows, stats has ${theirs.length}`);
}

// Samples of the page have the stacks and numbers of folded stacks, which also name process and thread.
async function compareSamples(page, name) {
	for (const kind of ['cpu', 'off-cpu', 'alloc']) {
		const file = path.join(folder, `${name}.${kind}`);
		if (!fs.existsSync(file))
			continue;
		const ours = await page.evaluate(of => {
			const data = JSON.parse(document.getElementById('data').textContent), tree = data && data.samples[of];
			const bytes = tree ? [...atob(tree.stacks)].map(c => c.charCodeAt(0)) : [], path = [], lines = [];
			const next = () => { let v = 0, scale = 1, b; do { b = bytes.shift(); v += (b & 127) * scale; scale *= 128; } while (b > 127); return v; };
			while (bytes.length > 0) {
				path.length = next() - 1;
				path.push(data.names[next()].replace(/[\u2068\u2069]/g, ''));
				const n = next();
				if (n > 0)
					lines.push(`${path.join(';')} ${n}`);
			}
			return lines;
		}, kind);
		const theirs = new Map();
		for (const line of fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
			const [, stack, n] = /^[^;]*;[^;]*;(.*) (\d+)$/.exec(line);
			theirs.set(stack, (theirs.get(stack) || 0) + Number(n));
		}
		const sort = list => list.sort().join('\n');
		if (sort(ours) !== sort([...theirs].map(([stack, n]) => `${stack} ${n}`)))
			fail(name, `other ${kind} samples than folded stacks: ${ours.length} and ${theirs.size} stacks`);
	}
}

async function withoutScript(browser, name) {
	const page = await browser.newPage();
	await page.setJavaScriptEnabled(false);
	await page.goto('file://' + path.resolve(folder, name + '.html'));
	const text = await page.evaluate(() => document.body.innerText).catch(() => '');
	if (!/Findings/.test(text) || (await page.$('#spans') && !/Spans/.test(text)))
		fail(name, 'without scripts there is no text');
	await page.close();
}

const args = ['--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'];
if (process.getuid() === 0)
	args.push('--no-sandbox');
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args });
for (const name of fs.readFileSync(path.join(folder, 'pages'), 'utf8').split('\n').filter(Boolean))
	try {
		const { page, took } = await open(browser, name);
		await useNames(page, name);
		await useTimeline(page, name);
		for (const picture of ['#flame-picture', '#samples-cpu-picture', '#samples-off-cpu-picture', '#samples-alloc-picture'])
			await useStacks(page, name, picture);
		await useTable(page, name);
		if (await page.evaluate(() => window.written.some(w => !w.text.isWellFormed())))
			fail(name, 'a picture has half a character');
		await compare(page, name);
		await compareSamples(page, name);
		await violations(page, name, 'light');
		await violations(page, name, 'dark');
		const answers = (await page.evaluate(() => performance.getEntriesByName('answer').map(e => e.duration))).sort((a, b) => a - b);
		if (process.env.VERBOSE)
			console.log(`${name}: ready in ${took} ms, answers ${answers.map(a => a.toFixed(0)).join(' ')} ms`);
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
		for (const width of [360, 800, 1440]) {
			await page.setViewport({ width, height: 900 });
			await rest(150);
			const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			if (wide > 0)
				fail(name, `${wide} px too wide at ${width}`);
			await page.evaluate(() => scrollTo(0, 0));
			if (shots)
				await page.screenshot({ path: path.join(shots, `${name}-${width}.png`) });
		}
		await page.close();
		await withoutScript(browser, name);
	} catch (e) {
		fail(name, e.message);
	}
await browser.close();
process.exit(failed);
