// hostile.mjs HOSTILE MANY: writes a trace whose texts attack a page, and one with many tracks, stacks and counters.
import fs from 'fs';
const [hostile, many] = process.argv.slice(2);
const names = ['</script><script>alert(1)</script>', '<!--<script>', '"\'`onerror=alert(1)', '\u202eabc\u202c', 'a' + '\u0301'.repeat(200),
	'\u0000\u001b[31m', '__proto__', 'constructor', '@JS@', 'x'.repeat(1000000), '', '##[error]x', '::error::y', '\u2028\u2029',
	'<img src=x onerror=alert(1)>', '&lt;b&gt;', '\ud83d\ude00', 'toString', 'שלום 12'];
const events = [];
for (let i = 0, ts = 0; i < 100000; i++, ts += 3)
	events.push({ ph: 'X', ts, dur: 3 + i % 2, pid: 1, tid: i % 3, name: i < names.length ? names[i] : `name ${i}`,
		cat: i % 5 === 0 ? names[i % 9] : 'c' });
events.push({ ph: 'C', ts: 5, pid: 1, tid: 1, name: names[0], args: { [names[1]]: 3 } });
events.push({ ph: 'M', pid: 1, tid: 1, name: 'thread_name', args: { name: names[0] } });
events.push({ ph: 'M', pid: 1, tid: 1, name: 'process_name', args: { name: names[3] } });
const frames = {}, samples = [];
names.forEach((name, i) => {
	frames[i] = i > 0 ? { name, category: name, parent: String(i - 1) } : { name, category: name };
	samples.push({ name: 'cpu', ts: i, tid: 1, pid: 1, sf: i, weight: 1 });
});
fs.writeFileSync(hostile, JSON.stringify({ traceEvents: events, otherData: { '<script>': '</script>' }, stackFrames: frames, samples }));

const rows = [];
let seed = 1;
const random = n => (seed = (seed * 48271) % 2147483647) % n;
for (let pid = 0; pid < 20; pid++)
	for (let tid = 0; tid < 16; tid++)
		for (let i = 0, ts = random(1000); i < 120; i++) {
			const dur = 20 + random(400);
			for (let depth = 0; depth < 1 + random(6); depth++)
				rows.push({ ph: 'X', ts: ts + depth, dur: dur - 2 * depth, pid, tid: pid * 100 + tid, name: `step ${random(40)}`, cat: `layer ${depth}` });
			ts += dur + random(200);
		}
for (let i = 0; i < 3000; i++)
	rows.push({ ph: 'C', ts: i * 12, pid: i % 5, name: 'queue', args: { depth: random(100), wait: random(1000) / 7 } });
const deep = {}, taken = [];
for (let i = 0; i < 60000; i++) {
	deep[i] = { name: `function of module ${random(20000)} with a long name`, category: 'c' };
	if (i > 0)
		deep[i].parent = String(Math.max(0, i - 1 - random(300)));
	taken.push({ name: 'cpu', ts: i, tid: 1, pid: 1, sf: i, weight: 1 });
}
fs.writeFileSync(many, JSON.stringify({ traceEvents: rows, stackFrames: deep, samples: taken }));
