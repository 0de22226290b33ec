// parquet_viewers.mjs MODULES LIST: reads Parquet files with DuckDB, hyparquet and parquet-wasm, the npm packages below MODULES.
// LIST has lines of STEM, tab, INPUT.  Counts, names, sums, least and greatest durations and times are those that
// STEM.json (tracetool stats) has; arguments are those of STEM.csv; STEM.parquet.d has the rows of STEM.parquet.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';
import { pathToFileURL } from 'url';

const [modules, list] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'index.js'));
const load = name => import(pathToFileURL(require.resolve(name)));
const { DuckDBInstance } = await load('@duckdb/node-api');
const { parquetReadObjects } = await import(pathToFileURL(
	path.resolve(modules, 'node_modules/hyparquet/src/index.js')));
const { compressors } = await import(pathToFileURL(
	path.resolve(modules, 'node_modules/hyparquet-compressors/src/index.js')));
const wasm = require('parquet-wasm');
const arrow = require('apache-arrow');

const duck = await (await DuckDBInstance.create()).connect();
const query = async q => (await duck.runAndReadAll(q)).getRowObjectsJson();
let failed = 0;
const fail = (input, why) => { console.log(`${input}: ${why}`); failed = 1; };

// ---- summaries: a line for each kind, name and category, and one for the whole ----

function summary() {
	const rows = new Map();
	return {
		add(kind, name, category, count, sum, min, max) {
			const key = JSON.stringify([kind, name, category]), row = rows.get(key);
			if (!row) {
				rows.set(key, [BigInt(count), BigInt(sum), BigInt(min), BigInt(max)]);
				return;
			}
			row[0] += BigInt(count);
			row[1] += BigInt(sum);
			if (BigInt(min) < row[2]) row[2] = BigInt(min);
			if (BigInt(max) > row[3]) row[3] = BigInt(max);
		},
		text(first, last) {
			return [...rows].map(([k, v]) => `${k} ${v.join(' ')}`).sort().concat(`${first} ${last}`).join('\n');
		},
	};
}

// Digits that a double does not hold stay text.
const exact = text => JSON.parse(text.replace(/([:[,]\s*)(-?\d{16,})(?=[\s,}\]])/g, '$1"$2"'));

function expected(stem) {
	const trace = exact(fs.readFileSync(`${stem}.json`, 'utf8')).inputs[0], s = summary();
	for (const [kind, rows] of [['span', trace.spans], ['async', trace.async_spans]])
		for (const r of rows)
			s.add(kind, r.name, r.category, r.count, r.dur_ns.sum, r.dur_ns.min, r.dur_ns.max);
	for (const [kind, rows] of [['instant', trace.instants], ['counter', trace.counters]])
		for (const r of rows)
			s.add(kind, r.name, '', r.count, 0, 0, 0);
	return s.text(trace.first_ns, trace.last_ns);
}

const counted = new Set(['span', 'async', 'instant', 'counter']);
const spans = new Set(['span', 'async']);

// Of rows as objects, whichever reader they are from.
function of_rows(rows) {
	const s = summary();
	let first = null, last = null;
	for (const r of rows) {
		const ts = BigInt(r.ts_ns), is_span = spans.has(r.kind), end = ts + (is_span ? BigInt(r.dur_ns) : 0n);
		if (first === null || ts < first) first = ts;
		if (last === null || end > last) last = end;
		if (counted.has(r.kind))
			s.add(r.kind, r.name, is_span ? r.category : '', 1, is_span ? r.dur_ns : 0, is_span ? r.dur_ns : 0,
				is_span ? r.dur_ns : 0);
	}
	return s.text(first, last);
}

async function by_duckdb(file) {
	const s = summary();
	const rows = await query(`select kind, name, if(kind in ('span', 'async'), category, '') c, count(*) n,
		coalesce(sum(dur_ns) filter (kind in ('span', 'async')), 0)::varchar s,
		coalesce(min(dur_ns) filter (kind in ('span', 'async')), 0)::varchar a,
		coalesce(max(dur_ns) filter (kind in ('span', 'async')), 0)::varchar b
		from '${file}' where kind in ('span', 'async', 'instant', 'counter') group by all`);
	for (const r of rows)
		s.add(r.kind, r.name, r.c, r.n, r.s, r.a, r.b);
	const [t] = await query(`select min(ts_ns)::varchar a, max(ts_ns + if(kind in ('span', 'async'),
		dur_ns::hugeint, 0))::varchar b from '${file}'`);
	return s.text(t.a, t.b);
}

async function by_hyparquet(file) {
	const buffer = fs.readFileSync(file);
	const rows = await parquetReadObjects({
		file: buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length), compressors });
	return of_rows(rows);
}

function by_wasm(file) {
	const table = arrow.tableFromIPC(wasm.readParquet(fs.readFileSync(file)).intoIPCStream());
	return of_rows(table.toArray());
}

// ---- one file ----

// JSON that DuckDB's reader of CSV takes too: times and arguments of each record.
async function arguments_differ(stem) {
	const csv = `read_csv('${stem}.csv', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"',
		max_line_size = 100000000, strict_mode = true)`;
	const a = `select ts_ns::varchar t, "offset"::varchar o, coalesce(args::varchar, '') a from '${stem}.parquet'`;
	const b = `select ts_ns t, "offset" o, coalesce(args, '') a from ${csv}`;
	const [r] = await query(`select (select count(*) from (${a} except all ${b})) +
		(select count(*) from (${b} except all ${a})) n, (select count(*) from (${b})) m`);
	return r;
}

async function check(stem, input) {
	const want = expected(stem), file = `${stem}.parquet`;
	const [{ n }] = await query(`select count(*) n from '${file}'`);
	if (Number(n) === 0)
		return 0;
	for (const [who, got] of [['DuckDB', await by_duckdb(file)], ['DuckDB, of the parts', await by_duckdb(`${stem}.parquet.d/*.parquet`)],
		['hyparquet', await by_hyparquet(file)], ['parquet-wasm', by_wasm(file)]]) {
		if (got === want)
			continue;
		const a = want.split('\n'), b = got.split('\n');
		fail(input, `${who} shows ${b.find(l => !a.includes(l))}, stats says ${a.find(l => !b.includes(l))}`);
	}
	const { n: wrong, m } = await arguments_differ(stem);
	if (Number(wrong) !== 0 || Number(m) !== Number(n))
		fail(input, `${n} rows, ${m} in the CSV, ${wrong} with other arguments`);
	return Number(n);
}

let files = 0, rows = 0;
for (const line of fs.readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
	const [stem, input] = line.split('\t');
	try {
		rows += await check(stem, input);
		files++;
	} catch (e) {
		fail(input, e.message);
	}
}
if (files === 0)
	fail('parquet', 'no traces were converted');
console.log(`parquet: ${files} outputs, ${rows} rows, compared in DuckDB, hyparquet and parquet-wasm`);
process.exit(failed);
