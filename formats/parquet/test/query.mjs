// parquet_query.mjs MODULES FILE: what DuckDB, the npm package below MODULES, answers to the query in FILE: a line for each row, its
// cells separated by tabs.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';
import { pathToFileURL } from 'url';

const [modules, file] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'index.js'));
const { DuckDBInstance } = await import(pathToFileURL(require.resolve('@duckdb/node-api')));
const duck = await (await DuckDBInstance.create()).connect();
const rows = (await duck.runAndReadAll(fs.readFileSync(file, 'utf8'))).getRowsJson();
for (const row of rows)
	console.log(row.map(c => c === null ? 'null' : c).join('\t'));
process.exit(0);
