// The pictures of the page: timeline, stacks, table of spans, counters, balance, delays.
// The data is described in src/page/data.c.  All text goes through textContent.
'use strict';
(() => {
const root = document.documentElement;
const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);

// ---- elements ----

function make(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		e.setAttribute(name, value);
	e.append(...children);
	return e;
}

function makeSvg(tag, attributes) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	return e;
}

function button(text, action) {
	const b = make('button', { type: 'button' }, text);
	b.addEventListener('click', action);
	return b;
}

// ---- links to the sections ----

function addLinks() {
	const list = make('ul');
	for (const section of document.querySelectorAll('main > section'))
		list.append(make('li', {}, make('a', { href: '#' + section.id }, section.querySelector('h2').textContent)));
	document.querySelector('header').append(make('nav', { 'aria-label': 'Sections' }, list));
}

// ---- numbers ----

const THIN = '\u2009';
const group = digits => digits.replace(/\B(?=(\d{3})+$)/g, THIN);
const number = v => group(String(v));
const exact = ns => number(ns) + ' ns';
const some = (v, what) => `${number(v)} ${what}${v === 1 ? '' : 's'}`;
const samples = v => some(v, 'sample');
const UNITS = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];

// Four digits, or whole seconds, and a unit.
function time(ns) {
	const v = Number(ns);
	const [unit, size] = UNITS.find(u => Math.abs(v) >= u[1]) || UNITS[3];
	return (size === 1 || Math.abs(v) >= 1e12 ? number(Math.round(v / size)) : (v / size).toPrecision(4)) + ' ' + unit;
}

// A point in time, with the digits that tell it from others in a window of `span` ns.
function moment(ns, span) {
	const [unit, size] = UNITS.find(u => ns >= u[1]) || UNITS[3];
	const digits = Math.ceil(Math.log10(100 * size / Math.max(span, 100)));
	return (ns / size).toFixed(Math.max(0, Math.min(digits, Math.log10(size)))) + ' ' + unit;
}

const percent = share => (share * 100).toFixed(share < 0.1 ? 2 : 1) + ' %';

// ---- bytes ----

function bytesOf(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

// Reads LEB128 numbers, up to 2^53.
function numbersOf(base64) {
	const bytes = bytesOf(base64);
	let at = 0;
	const next = () => {
		let v = 0, scale = 1, b;
		do {
			b = bytes[at++];
			v += (b & 127) * scale;
			scale *= 128;
		} while (b >= 128);
		return v;
	};
	return { next, more: () => at < bytes.length };
}

// ---- colours ----

let colors;
const darkMode = matchMedia('(prefers-color-scheme: dark)'), printing = matchMedia('print');

function readColors() {
	const style = getComputedStyle(root), get = name => style.getPropertyValue('--' + name).trim();
	colors = { fill: [], text: [], rgb: [] };
	for (const name of ['back', 'front', 'soft', 'line', 'panel', 'focus', 'wait', 'faint', 'more', 'less', 'same'])
		colors[name] = get(name);
	for (let i = 0; i < 8; i++) {
		colors.fill.push(get('c' + i));
		colors.text.push(get('t' + i));
	}
	colors.rgb = colors.fill.map(rgbOf);
	colors.pixels = colors.rgb.map(pixelOf);
	colors.waitPixel = pixelOf(rgbOf(colors.wait));
	colors.backRgb = rgbOf(colors.back);
	colors.shades = Array.from({ length: 65 }, (_, i) => mix(colors.backRgb, colors.rgb[0], i / 64));
}

const rgbOf = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const pixelOf = rgb => new Uint32Array(Uint8Array.of(...rgb, 255).buffer)[0];
const mix = (a, b, part) => `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * part)).join(' ')})`;

// The relative luminance of WCAG: above 0.179 black text has more contrast than white.
const luminance = rgb => rgb.map(v => (v / 255 <= 0.04045 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4))
	.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

// ---- drawing ----

const pictures = []; // functions that draw
const frame = new Set();

// Draws once a frame, however many inputs came; the time from input to picture is measured.
function soon(draw, event) {
	if (frame.has(draw))
		return;
	frame.add(draw);
	requestAnimationFrame(() => {
		frame.delete(draw);
		draw();
		if (event)
			performance.measure('answer', { start: event.timeStamp, end: performance.now() });
	});
}

const drawAll = () => { readColors(); pictures.forEach(draw => draw()); };

// A canvas in a frame that takes the keyboard.
function stage(label, description) {
	const note = make('p', { class: 'status', role: 'status' });
	const canvas = make('canvas', { 'aria-hidden': 'true' });
	const box = make('div', {
		class: 'stage', tabindex: '0', role: 'application', 'aria-roledescription': 'picture', 'aria-label': label
	}, canvas);
	const help = make('p', { class: 'range' }, description);
	help.id = 'help-' + label.toLowerCase().replace(/\W+/g, '-');
	box.setAttribute('aria-describedby', help.id);
	return { canvas, box, note, help, width: 0, height: 0 };
}

// Fits the canvas to its box; returns a context in CSS pixels, or null while there is no room.
function contextOf(s, height) {
	const width = Math.floor(s.box.clientWidth), ratio = Math.min(window.devicePixelRatio || 1, 2);
	if (width < 120)
		return null;
	height = Math.min(height, 16000);
	s.width = width;
	s.height = height;
	s.canvas.style.height = height + 'px';
	s.canvas.width = Math.round(width * ratio);
	s.canvas.height = Math.round(height * ratio);
	const c = s.canvas.getContext('2d');
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.font = '12px system-ui, "DejaVu Sans", sans-serif';
	c.textBaseline = 'middle';
	c.fillStyle = colors.back;
	c.fillRect(0, 0, width, height);
	return c;
}

// Text cut in the middle to a width.  The isolates of a name that runs from right to left are not characters to see.
function fit(c, text, width) {
	if (width < 16)
		return '';
	if (text.length * 10 < width || c.measureText(text).width <= width)
		return text;
	const chars = Array.from(text.replace(/[\u2068\u2069]/g, ''));
	let low = 0, high = chars.length;
	while (low < high) {
		const n = (low + high + 1) >> 1;
		if (c.measureText(shortened(chars, n)).width <= width)
			low = n;
		else
			high = n - 1;
	}
	return low > 0 ? shortened(chars, low) : '';
}

// Two texts cut to a width: the second one; it is left out if the first takes more than three quarters.
function fitPair(c, first, second, width) {
	const taken = c.measureText(first).width;
	return taken > width * 3 / 4 ? fit(c, first, width) : first + fit(c, second, width - taken);
}

const shortened = (chars, n) => chars.slice(0, Math.ceil(n / 3)).join('') + '…' + chars.slice(chars.length - Math.floor(n * 2 / 3)).join('');

// ---- tooltip, and a line for screen readers that speaks at rest ----

const tip = make('div', { class: 'tip', hidden: '' });
document.body.append(tip);

function showTip(event, lines) {
	if (!lines) {
		tip.hidden = true;
		return;
	}
	tip.textContent = lines.join('\n');
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
	tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 8)) + 'px';
}

function speaker(note) {
	let timer = 0;
	return text => {
		clearTimeout(timer);
		timer = setTimeout(() => { note.textContent = text; }, 250);
	};
}

// ---- timeline: the data ----

const length = data ? Math.max(1, Number(data.length)) : 1;
const view = { from: 0, to: length };
const listeners = []; // called when the window moves

// Draws again when the window moves, but out of sight not before it is seen.
function follow(box, draw) {
	let seen = false, late = false;
	pictures.push(draw);
	listeners.push(() => { late = !seen; if (seen) soon(draw); });
	new IntersectionObserver(entries => {
		seen = entries[entries.length - 1].isIntersecting;
		if (seen && late)
			soon(draw);
		late = late && !seen;
	}).observe(box);
}

// Bins of a track at several widths: level k has bins of 2^k of the data's.
function levelsOf(n, color, busy, waiting, name) {
	const share = plane => Float32Array.from(plane, v => v * v / 65025);
	const levels = [{ n, color, busy: share(busy), waiting: share(waiting), name }];
	for (let l = levels[0]; l.n > 64; l = levels[levels.length - 1]) {
		const half = Math.ceil(l.n / 2);
		const up = { n: half, color: new Uint8Array(half), busy: new Float32Array(half),
			waiting: new Float32Array(half), name: new Uint8Array(half) };
		for (let i = 0; i < half; i++) {
			const a = 2 * i, b = a + 1 < l.n ? a + 1 : a, most = l.busy[b] > l.busy[a] ? b : a;
			up.busy[i] = (l.busy[a] + (b > a ? l.busy[b] : 0)) / 2;
			up.waiting[i] = (l.waiting[a] + (b > a ? l.waiting[b] : 0)) / 2;
			up.color[i] = l.color[most];
			up.name[i] = l.name[most];
		}
		levels.push(up);
	}
	return levels;
}

function decodeTracks() {
	const planes = bytesOf(data.planes), spans = numbersOf(data.spans);
	let at = 0;
	const plane = n => planes.subarray(at, at += n);
	return data.tracks.map(row => {
		const [process, name, busy, waiting, count, depth, first, n, group] = row;
		const levels = levelsOf(n, plane(n), plane(n), plane(n), plane(n));
		const list = { n: spans.next() };
		for (const key of ['start', 'dur'])
			list[key] = new Float64Array(list.n);
		list.name = new Uint32Array(list.n);
		list.depth = new Uint16Array(list.n);
		list.waits = new Uint8Array(list.n);
		for (let i = 0, t = 0; i < list.n; i++) {
			t += spans.next();
			list.start[i] = t;
			list.dur[i] = spans.next();
			list.name[i] = spans.next();
			const d = spans.next();
			list.depth[i] = d >> 1;
			list.waits[i] = d & 1;
		}
		return { process, name, busy: Number(busy), waiting: Number(waiting), count, depth, first, levels, list, group };
	});
}

// The first bin of a level lies at `first` bins of level 0: its bins begin at multiples of their width from there.
const binAt = (track, level, t) => ((t + Number(data.offset)) / data.bin - track.first) / 2 ** level;

// Processes as rows: the mean over their tracks.
function joinTracks(tracks) {
	const groups = new Map();
	for (const t of tracks)
		groups.set(t.group, (groups.get(t.group) || []).concat(t));
	return [...groups.values()].map(list => {
		const first = Math.min(...list.map(t => t.first));
		const n = Math.max(...list.map(t => t.first + t.levels[0].n)) - first;
		const sums = { n, color: new Uint8Array(n).fill(7), busy: new Float32Array(n), waiting: new Float32Array(n),
			name: new Uint8Array(n) }, most = new Float32Array(n);
		for (const t of list)
			for (let i = 0, l = t.levels[0]; i < l.n; i++) {
				const k = i + t.first - first;
				sums.busy[k] += l.busy[i] / list.length;
				sums.waiting[k] += l.waiting[i] / list.length;
				if (l.busy[i] > most[k]) {
					most[k] = l.busy[i];
					sums.color[k] = l.color[i];
					sums.name[k] = l.name[i];
				}
			}
		const root255 = plane => Uint8Array.from(plane, v => Math.min(255, Math.ceil(Math.sqrt(v) * 255)));
		const levels = levelsOf(n, sums.color, root255(sums.busy), root255(sums.waiting), sums.name);
		return { process: list[0].process, name: `${list.length} track${list.length === 1 ? '' : 's'}`, first, levels,
			list: { n: 0 }, depth: 0, busy: list.reduce((a, t) => a + t.busy, 0),
			waiting: list.reduce((a, t) => a + t.waiting, 0), count: list.reduce((a, t) => a + t.count, 0) };
	});
}

// ---- timeline: the picture ----

// Mean shares of the bins in [from, to), in bins of the level: an object that the next call changes.
const mean = { busy: 0, waiting: 0, color: 7, name: 0 };
function sample(level, from, to) {
	const a = Math.max(0, Math.floor(from)), b = Math.min(level.n, Math.max(Math.ceil(to), a + 1));
	let busy = 0, waiting = 0, best = -1, color = 7, name = 0;
	if (b <= a || from >= level.n || to <= 0)
		return null;
	for (let i = a; i < b; i++) {
		busy += level.busy[i];
		waiting += level.waiting[i];
		if (level.busy[i] > best) {
			best = level.busy[i];
			color = level.color[i];
			name = level.name[i];
		}
	}
	mean.busy = busy / (b - a);
	mean.waiting = waiting / (b - a);
	mean.color = color;
	mean.name = name;
	return mean;
}

const DEEPEST = 60; // rows of spans of the chosen track

function timeline(place, tracks) {
	const s = stage('Timeline', 'Keys: + and − zoom, ← → move, ↑ ↓ or a click choose a track, which shows all rows of its spans; 0 shows the whole trace. ' +
		'The wheel zooms while the picture has the focus or Ctrl is held; drag to choose a time.');
	const speak = speaker(s.note), gutter = () => Math.min(220, Math.floor(s.box.clientWidth / 3));
	const many = tracks.length > 60 && new Set(tracks.map(t => t.group)).size > 1;
	let rows = many ? joinTracks(tracks) : tracks, tall = [], chosen = -1, drag = null;
	const range = make('span', { class: 'range' }), copy = document.createElement('canvas'); // copy, image: of the strips
	let image = null;
	const least = Math.min(length, Math.max(20, length / 2 ** 45)); // of a window; Numbers tell its times apart
	const shown = `${tracks.length} of ${data.all_tracks} tracks with spans shown, by busy time; each bin is ${time(data.bin)}; ` +
		`${number(data.spans_shown)} of ${number(data.spans_all)} spans are on this page, the longest of each stretch. ` +
		'Heights are square roots of shares.';
	const toggle = button('Show all tracks', () => {
		rows = rows === tracks ? joinTracks(tracks) : tracks;
		toggle.textContent = rows === tracks ? 'Show processes' : 'Show all tracks';
		chosen = -1;
		soon(draw);
	});

	function layout() {
		const strip = rows.length <= 12 ? 26 : rows.length <= 60 ? 16 : 6;
		const deep = rows.length <= 12 ? 8 : rows.length <= 60 ? 3 : 0;
		let y = 58;
		tall = rows.map((t, i) => {
			const levels = Math.min(i === chosen ? DEEPEST : deep, t.list.n > 0 ? t.depth + 1 : 0);
			const row = { y, strip, levels, height: strip + levels * 13 + (strip > 6 ? 5 : 1) };
			y += row.height;
			return row;
		});
		return y + 4;
	}

	// Lines of the axis down to `bottom`, and their times.
	function axis(c, left, width, bottom) {
		const span = view.to - view.from;
		let step = 10 ** Math.floor(Math.log10(span / 4));
		step *= [1, 2, 5, 10].find(m => span / (step * m) <= Math.max(2, width / 110)) || 10;
		const [unit, size] = UNITS.find(u => step >= u[1]) || UNITS[3];
		c.fillStyle = colors.soft;
		let free = left;
		for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
			const x = left + (t - view.from) / span * width;
			const label = `${number(Number((t / size).toFixed(6)))} ${unit}`, wide = c.measureText(label).width;
			const at = x + 3 + wide > left + width ? x - 3 - wide : x + 3;
			c.fillRect(x, 36, 1, bottom - 36);
			if (at >= free) {
				c.fillText(label, at, 44);
				free = at + wide + 6;
			}
			if (!(t + step > t))
				break;
		}
	}

	// All tracks in a strip at the top; the window is marked.
	function overview(c, left, width) {
		c.fillStyle = colors.faint;
		c.fillRect(left, 4, width, 26);
		for (let x = 0; x < width; x++) {
			const from = x / width * length, to = (x + 1) / width * length;
			let busy = 0;
			for (const t of tracks.slice(0, 64)) {
				const k = levelFor(t, to - from), v = sample(t.levels[k], binAt(t, k, from), binAt(t, k, to));
				busy += v ? v.busy : 0;
			}
			const h = 26 * Math.sqrt(busy / Math.min(64, tracks.length || 1));
			c.fillStyle = colors.soft;
			c.fillRect(left + x, 30 - h, 1, h);
		}
		c.strokeStyle = colors.focus;
		c.lineWidth = 2;
		c.strokeRect(left + view.from / length * width, 4, Math.max(2, (view.to - view.from) / length * width), 26);
	}

	const levelFor = (t, ns) =>
		Math.max(0, Math.min(t.levels.length - 1, Math.floor(Math.log2(Math.max(1, ns / data.bin)))));

	function strips(c, left, width) {
		if (copy.width !== width || copy.height !== s.height || !image) {
			copy.width = width;
			copy.height = s.height;
			image = c.createImageData(width, s.height);
		}
		const pixels = new Uint32Array(image.data.buffer).fill(0), perPixel = (view.to - view.from) / width;
		const busy = new Uint8Array(width), waits = new Uint8Array(width), fill = new Uint32Array(width); // of a column
		rows.forEach((t, i) => {
			const { y, strip } = tall[i], k = levelFor(t, perPixel), level = t.levels[k];
			const first = binAt(t, k, view.from), step = perPixel / data.bin / 2 ** k;
			for (let x = 0; x < width; x++) {
				const v = sample(level, first + x * step, first + (x + 1) * step);
				busy[x] = v ? Math.min(strip, Math.ceil(Math.sqrt(v.busy) * strip - 0.01)) : 0;
				waits[x] = v ? Math.min(strip, Math.ceil(Math.sqrt(Math.min(1, v.busy + v.waiting)) * strip - 0.01)) : 0;
				fill[x] = v ? colors.pixels[v.color] : 0;
			}
			for (let h = 0, at = (y + strip - 1) * width; h < strip; h++, at -= width)
				for (let x = 0; x < width; x++)
					if (h < busy[x])
						pixels[at + x] = fill[x];
					else if (h < waits[x])
						pixels[at + x] = colors.waitPixel;
		});
		copy.getContext('2d').putImageData(image, 0, 0);
		c.imageSmoothingEnabled = false;
		c.drawImage(copy, left, 0);
	}

	function spans(c, left, width) {
		const scale = width / (view.to - view.from);
		rows.forEach((t, i) => {
			const { y, strip, levels } = tall[i], list = t.list;
			for (let k = 0; levels > 0 && k < list.n; k++) {
				const start = list.start[k], end = start + list.dur[k], wide = list.dur[k] * scale;
				if (start > view.to)
					break;
				if (end < view.from || wide < 1 || list.depth[k] >= levels)
					continue;
				const x = left + Math.max(0, (start - view.from) * scale);
				const w = Math.min(left + width, left + (end - view.from) * scale) - x, top = y + strip + 1 + list.depth[k] * 13;
				const color = data.colors[list.name[k]];
				c.fillStyle = list.waits[k] ? colors.wait : colors.fill[color];
				c.fillRect(x, top, Math.max(1, w - 0.5), 12);
				if (w > 26) {
					c.fillStyle = list.waits[k] ? colors.front : colors.text[color];
					c.fillText(fit(c, data.names[list.name[k]], w - 6), x + 3, top + 6.5);
				}
			}
		});
	}

	function names(c, left) {
		let process = null;
		rows.forEach((t, i) => {
			const { y, strip, height } = tall[i];
			if (i === chosen) {
				c.strokeStyle = colors.focus;
				c.lineWidth = 2;
				c.strokeRect(1, y - 1, s.width - 2, height);
			}
			if (strip < 12 && i % 3 !== 0 && i !== chosen)
				return;
			c.fillStyle = colors.front;
			const withProcess = t.process !== t.name && (t.process !== process || strip >= 12);
			process = t.process;
			c.fillText(withProcess ? fitPair(c, t.name, ' · ' + t.process, left - 8) : fit(c, t.name, left - 8), 4,
				y + (i === chosen && strip < 12 ? height : strip) / 2 + 1);
		});
	}

	function draw() {
		const c = contextOf(s, layout());
		if (!c)
			return;
		const left = gutter(), width = s.width - left - 4;
		overview(c, left, width);
		c.save();
		c.globalAlpha = 0.25;
		axis(c, left, width, s.height);
		c.restore();
		strips(c, left, width);
		spans(c, left, width);
		c.globalAlpha = 1;
		axisLabels(c, left, width);
		names(c, left);
		if (drag && drag.to !== null) {
			c.fillStyle = colors.focus;
			c.globalAlpha = 0.2;
			c.fillRect(Math.min(drag.from, drag.to), 34, Math.abs(drag.to - drag.from), s.height - 34);
			c.globalAlpha = 1;
		}
		range.textContent = `${windowText()}: ${time(view.to - view.from)}`;
	}

	function windowText() {
		const span = view.to - view.from;
		return `${moment(view.from, span)} to ${moment(view.to, span)}`;
	}

	function axisLabels(c, left, width) {
		c.fillStyle = colors.back;
		c.fillRect(left, 34, width, 18);
		axis(c, left, width, 52);
	}

	function move(from, to, event) {
		const span = Math.min(length, Math.max(least, to - from));
		view.from = Math.max(0, Math.min(from, length - span));
		view.to = view.from + span;
		soon(draw, event);
		listeners.forEach(f => f());
		speak(`${windowText()} shown`);
	}

	// The shortest window stays where it is.
	function zoom(factor, at, event) {
		const f = Math.max(factor, least / (view.to - view.from));
		move(at - (at - view.from) * f, at + (view.to - at) * f, event);
	}

	const middle = () => (view.from + view.to) / 2;
	const timeAt = x => view.from + (x - gutter()) / (s.width - gutter() - 4) * (view.to - view.from);
	const rowAt = y => tall.findIndex(r => y >= r.y && y < r.y + r.height);

	function choose(i) {
		chosen = Math.max(0, Math.min(rows.length - 1, i));
		const t = rows[chosen];
		if (t)
			speak(`${t.name} of ${t.process}: busy ${time(t.busy)}, waiting ${time(t.waiting)}, ${some(t.count, 'span')}`);
		soon(draw);
	}

	// Chooses a track by key: it may be out of sight.
	function reach(i) {
		choose(i);
		layout();
		const top = s.box.getBoundingClientRect().top + tall[chosen].y;
		if (top < 0 || top + tall[chosen].height > innerHeight)
			scrollBy(0, top - innerHeight / 3);
	}

	function lines(x, y) {
		const i = rowAt(y), t = rows[i], at = timeAt(x);
		if (!t)
			return null;
		if (x < gutter())
			return [`${t.name} · ${t.process}`, `busy ${exact(t.busy)}`, `waiting ${exact(t.waiting)}`, `${some(t.count, 'span')}`];
		const depth = Math.floor((y - tall[i].y - tall[i].strip - 1) / 13), list = t.list;
		const slack = (view.to - view.from) / s.width;
		let near = -1, off = slack;
		for (let k = 0; k < list.n; k++) { // of a strip: the innermost span that is wide enough to see
			const away = Math.max(0, list.start[k] - at, at - list.start[k] - list.dur[k]);
			if (depth >= 0 ? list.depth[k] === depth && (near < 0 ? away <= off : away < off)
				: away === 0 && list.dur[k] > slack && (near < 0 || list.depth[k] > list.depth[near])) {
				near = k;
				off = away;
			}
		}
		const found = near < 0 ? [] : [data.names[list.name[near]], `duration ${exact(list.dur[near])}`, `start ${exact(list.start[near])}`,
			...(list.waits[near] ? ['waiting'] : [])];
		if (near >= 0 && depth >= 0)
			return [...found, `${t.name} · ${t.process}`];
		const k = levelFor(t, slack), v = sample(t.levels[k], binAt(t, k, at), binAt(t, k, at + slack));
		return [...found, `${t.name} · ${t.process}`, `at ${moment(at, view.to - view.from)}`].concat(v ? [`busy ${percent(v.busy)}, waiting ${percent(v.waiting)}`]
			.concat(v.name > 0 ? ['mostly ' + data.names[data.bin_names[v.name]]] : []) : ['no span']);
	}

	s.box.addEventListener('wheel', e => {
		if (!e.ctrlKey && document.activeElement !== s.box)
			return;
		e.preventDefault();
		if (e.deltaY !== 0)
			return zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.offsetX), e);
		const by = e.deltaX / s.width * (view.to - view.from);
		move(view.from + by, view.to + by, e);
	}, { passive: false });
	s.box.addEventListener('keydown', e => {
		const part = (view.to - view.from) / 5;
		const keys = {
			'+': () => zoom(0.5, middle(), e), '=': () => zoom(0.5, middle(), e), '-': () => zoom(2, middle(), e),
			0: () => move(0, length, e), ArrowLeft: () => move(view.from - part, view.to - part, e),
			ArrowRight: () => move(view.from + part, view.to + part, e),
			ArrowUp: () => reach(chosen - 1), ArrowDown: () => reach(chosen + 1)
		};
		if (!keys[e.key] || e.ctrlKey || e.altKey || e.metaKey) // those are of the browser
			return;
		e.preventDefault();
		keys[e.key]();
	});
	s.box.addEventListener('pointerdown', e => {
		if (e.offsetX >= gutter() && e.button === 0) {
			drag = { from: e.offsetX, to: null };
			s.box.setPointerCapture(e.pointerId);
		}
	});
	s.box.addEventListener('pointermove', e => {
		if (drag) {
			drag.to = Math.max(gutter(), Math.min(s.width - 4, e.offsetX));
			soon(draw);
		}
		showTip(e, drag && drag.to !== null ? null : lines(e.offsetX, e.offsetY));
	});
	s.box.addEventListener('pointerup', e => {
		const d = drag;
		drag = null;
		if (d && d.to !== null && Math.abs(d.to - d.from) > 4)
			move(timeAt(Math.min(d.from, d.to)), timeAt(Math.max(d.from, d.to)), e);
		else if (d)
			choose(rowAt(e.offsetY));
	});
	s.box.addEventListener('pointercancel', () => { drag = null; soon(draw); });
	s.box.addEventListener('pointerleave', e => showTip(e, null));
	place.append(make('p', {}, shown), make('div', { class: 'tools' }, button('Zoom in', e => zoom(0.5, middle(), e)),
		button('Zoom out', e => zoom(2, middle(), e)), button('Whole trace', e => move(0, length, e)), ...(many ? [toggle] : []),
		range), s.box, legend(), s.note, s.help);
	pictures.push(draw);
}

function legend() {
	const list = make('ul', { class: 'legend', 'aria-label': 'Colours' });
	const entry = (color, text) => {
		const box = make('span', { 'aria-hidden': 'true' });
		pictures.push(() => { box.style.backgroundColor = color(); });
		list.append(make('li', {}, box, text));
	};
	data.legend.forEach((text, i) => {
		const last = i === data.legend.length - 1 && text === '(other)';
		entry(() => colors.fill[last ? 7 : i], text);
	});
	entry(() => colors.wait, 'waiting');
	return list;
}

// ---- stacks ----

const ROWS_OF_BOXES = 60; // at most; as many as boxes of 0.5 % need

// Stacks of spans, or of samples, which are counted.
function decodeStacks(of, sampled) {
	const read = numbersOf(of.stacks), nodes = [], path = [];
	while (read.more()) {
		const n = { depth: read.next() - 1, name: read.next(), self: read.next(), waiting: 0, count: 0, oldSelf: 0, oldWaiting: 0 };
		if (!sampled) {
			n.waiting = read.next();
			n.count = read.next();
		}
		if (data.two_sides) {
			n.oldSelf = read.next();
			n.oldWaiting = sampled ? 0 : read.next();
		}
		path.length = n.depth;
		n.parent = n.depth > 0 ? path[n.depth - 1] : -1;
		path.push(nodes.length);
		nodes.push(n);
	}
	return nodes;
}

// Sums of the boxes, with or without waiting; side: 0 new, 1 old.
function sumStacks(nodes, waiting) {
	let all = 0, oldAll = 0;
	for (const n of nodes) {
		n.total = n.self + (waiting ? n.waiting : 0);
		n.old = n.oldSelf + (waiting ? n.oldWaiting : 0);
	}
	for (let i = nodes.length - 1; i >= 0; i--) {
		const up = nodes[i].parent;
		if (up >= 0) {
			nodes[up].total += nodes[i].total;
			nodes[up].old += nodes[i].old;
		} else {
			all += nodes[i].total;
			oldAll += nodes[i].old;
		}
	}
	return { all, old: oldAll };
}

// of: data of spans, or of a kind of samples, which has a title.
function flame(place, of) {
	const sampled = of.title !== undefined, title = sampled ? of.title : 'Stacks', amount = sampled ? samples : exact;
	const nodes = decodeStacks(of, sampled), last = new Int32Array(nodes.length); // last: index behind the box's children
	const s = stage(title, 'Keys: ↓ into a box, ↑ out of it, ← → to its neighbours, Enter zooms, Escape shows all.');
	const speak = speaker(s.note), found = make('span', { class: 'range' });
	const search = make('input', { type: 'search', 'aria-label': `Search in ${title}`, placeholder: 'Search' });
	const waits = make('input', { type: 'checkbox', id: 'stacks-waiting' });
	const side = make('select', { 'aria-label': `Width of boxes of ${title}` }, make('option', {}, 'width: new'), make('option', {}, 'width: old'));
	let sums = sumStacks(nodes, false), zoomed = -1, chosen = -1, wanted = '', boxes = [], top = 0, rows = 0; // top: depth of the first row
	const wide = n => (data.two_sides && side.selectedIndex === 1 ? n.old : n.total);
	const whole = () => (zoomed >= 0 ? wide(nodes[zoomed]) : side.selectedIndex === 1 ? sums.old : sums.all);

	for (let i = nodes.length - 1; i >= 0; i--) {
		last[i] = Math.max(last[i], i + 1);
		if (nodes[i].parent >= 0)
			last[nodes[i].parent] = Math.max(last[nodes[i].parent], last[i]);
	}

	// The depth of the deepest box that is wide enough to have a row.
	function deepestOf(from, to) {
		let deepest = 0;
		for (let i = from; i < to; i++)
			if (wide(nodes[i]) * 200 >= whole())
				deepest = Math.max(deepest, nodes[i].depth);
		return deepest;
	}

	function fillOf(n, match) {
		if (data.two_sides) {
			const a = n.old / (sums.old || 1), b = n.total / (sums.all || 1), part = Math.abs(b - a) / Math.max(a, b, 1e-9);
			return { fill: mix(rgbOf(colors.same), rgbOf(b > a ? colors.more : colors.less), Math.min(1, part)), text: colors.front };
		}
		const color = data.colors[n.name];
		return wanted && !match ? { fill: colors.faint, text: colors.front } : { fill: colors.fill[color], text: colors.text[color] };
	}

	function draw() {
		const from = Math.max(zoomed, 0), to = zoomed >= 0 ? last[zoomed] : nodes.length, deepest = deepestOf(from, to);
		top = Math.max(0, Math.min(zoomed >= 0 ? nodes[zoomed].depth - 3 : 0, deepest + 1 - ROWS_OF_BOXES));
		rows = Math.max(rows, Math.min(deepest + 1 - top, ROWS_OF_BOXES));
		const c = contextOf(s, Math.max(40, rows * 19 + 2)), scale = s.width / (whole() || 1);
		if (!c)
			return;
		boxes = [];
		const above = [];
		for (let i = zoomed >= 0 ? nodes[zoomed].parent : -1; i >= 0; i = nodes[i].parent)
			if (nodes[i].depth >= top)
				above.push(i);
		for (const i of above)
			box(c, i, 0, s.width);
		const next = []; // x of the next box at each depth
		next[zoomed >= 0 ? nodes[zoomed].depth : 0] = 0;
		for (let i = from; i < to;) {
			const n = nodes[i], x = next[n.depth], w = wide(n) * scale;
			next[n.depth] = x + w;
			next[n.depth + 1] = x;
			if (w < 0.4 || n.depth - top >= rows) {
				i = last[i];
				continue;
			}
			box(c, i, x, w);
			i++;
		}
	}

	function box(c, i, x, w) {
		const n = nodes[i], y = (n.depth - top) * 19 + 1, name = data.names[n.name];
		const match = wanted !== '' && name.toLowerCase().includes(wanted), { fill, text } = fillOf(n, match);
		c.fillStyle = fill;
		c.fillRect(x, y, Math.max(0.4, w - 0.6), 18);
		if (match && data.two_sides || i === chosen) {
			c.strokeStyle = colors.focus;
			c.lineWidth = 2;
			c.strokeRect(x + 1, y + 1, Math.max(1, w - 2.6), 16);
		}
		if (w > 24) {
			c.fillStyle = text;
			c.fillText(fit(c, name, w - 6), x + 3, y + 9.5);
		}
		boxes.push({ i, x, w, y });
	}

	function linesOf(n) {
		const lines = [data.names[n.name], `total ${amount(n.total)}, ${percent(n.total / (sums.all || 1))}`, `self ${amount(n.self)}`];
		if (n.waiting > 0)
			lines.push(`waiting ${exact(n.waiting)}`);
		if (!sampled)
			lines.push(some(n.count, 'span'));
		if (data.two_sides)
			lines.push(`old total ${amount(n.old)}, ${percent(n.old / (sums.old || 1))}`, `old self ${amount(n.oldSelf)}`);
		return lines;
	}

	function choose(i, event) {
		if (i < 0 || i >= nodes.length)
			return;
		chosen = i;
		speak(linesOf(nodes[i]).join(', '));
		soon(draw, event);
	}

	function zoomTo(i, event) {
		zoomed = i;
		soon(draw, event);
	}

	// The box before or after one with the same parent.
	function beside(i, step) {
		for (let k = i + step; k >= 0 && k < nodes.length; k += step)
			if (nodes[k].depth < nodes[i].depth)
				return i;
			else if (nodes[k].depth === nodes[i].depth)
				return k;
		return i;
	}

	function count() {
		let n = 0, sum = 0, inside = 0; // the time of a box has that of those inside
		for (let i = 0; wanted && i < nodes.length; i++)
			if (data.names[nodes[i].name].toLowerCase().includes(wanted)) {
				n++;
				sum += i < inside ? 0 : nodes[i].total;
				inside = Math.max(inside, last[i]);
			}
		found.textContent = wanted ? `boxes that match: ${number(n)}, ${percent(sum / (sums.all || 1))} of the ${sampled ? 'samples' : 'time'}` : '';
	}

	const at = e => boxes.findLast(b => e.offsetX >= b.x && e.offsetX < b.x + b.w && e.offsetY >= b.y && e.offsetY < b.y + 19);
	s.box.addEventListener('pointermove', e => { const b = at(e); showTip(e, b ? linesOf(nodes[b.i]) : null); });
	s.box.addEventListener('pointerleave', e => showTip(e, null));
	s.box.addEventListener('click', e => {
		const b = at(e);
		if (b) {
			choose(b.i, e);
			zoomTo(b.i === zoomed ? -1 : b.i, e);
		}
	});
	s.box.addEventListener('keydown', e => {
		const i = Math.max(0, chosen), n = nodes[i];
		const keys = {
			ArrowDown: () => choose(chosen < 0 ? 0 : nodes[i + 1] && nodes[i + 1].depth > n.depth ? i + 1 : i, e),
			ArrowUp: () => choose(n && n.parent >= 0 ? n.parent : i, e), ArrowLeft: () => choose(beside(i, -1), e),
			ArrowRight: () => choose(beside(i, 1), e), Enter: () => zoomTo(chosen, e), Escape: () => zoomTo(-1, e)
		};
		if (!keys[e.key] || e.ctrlKey || e.altKey || e.metaKey || nodes.length === 0)
			return;
		e.preventDefault();
		keys[e.key]();
	});
	search.addEventListener('input', e => {
		wanted = search.value.trim().toLowerCase();
		count();
		soon(draw, e);
	});
	waits.addEventListener('change', e => {
		sums = sumStacks(nodes, waits.checked);
		count();
		soon(draw, e);
	});
	side.addEventListener('change', e => soon(draw, e));
	const waiting = nodes.some(n => n.waiting + n.oldWaiting > 0), row = Math.min(deepestOf(0, nodes.length) + 1, ROWS_OF_BOXES);
	const hidden = nodes.some(n => n.depth >= row);
	place.append(make('p', {}, `${number(of.stacks_shown)} of ${number(of.stacks_all)} stacks; widths are ` +
		(sampled ? 'samples in a frame and in those that it calls' : 'self times with those inside') +
		(data.two_sides ? '; red boxes take a larger part of the new side, blue ones a smaller part.' : '.') +
		(hidden ? ' Zooming shows boxes that are deep inside narrow ones.' : '')),
		make('div', { class: 'tools' }, search, button('Whole graph', e => zoomTo(-1, e)), ...(data.two_sides ? [side] : []),
			...(waiting ? [make('label', { for: 'stacks-waiting' }, waits, ' with waiting')] : []), found), s.box, s.note, s.help);
	pictures.push(draw);
}

// ---- the table of spans ----

const HEADS = ['name', 'category', '', 'count', 'total', 'self', 'waiting', 'mean', 'p50', 'p90', 'p99', 'max', 'durations'];

function octaves(list, low, high, attributes) {
	const svg = makeSvg('svg', { ...attributes, viewBox: `0 0 ${Math.max(1, high - low + 1)} 10`, preserveAspectRatio: 'none',
		'aria-hidden': 'true', focusable: 'false' });
	const most = Math.max(1, ...list.slice(1));
	let path = '';
	for (let i = 1; i < list.length; i++)
		if (list[i] > 0) {
			const h = Math.max(0.8, 10 * Math.sqrt(list[i] / most));
			path += `M${list[0] + i - 1 - low} ${10 - h}h0.9v${h}h-0.9z`;
		}
	svg.append(makeSvg('path', { d: path }));
	return svg;
}

function table(place) {
	const rows = data.rows.slice(), filter = make('input', { type: 'search', 'aria-label': 'Filter spans', placeholder: 'Filter by name or category' });
	const status = make('span', { class: 'range', role: 'status' }), body = make('tbody'), head = make('tr');
	const more = button('Show 1,000 more', () => { limit += 1000; fill(); });
	const known = rows.filter(r => r[12].length > 1);
	const low = Math.min(...known.map(r => r[12][0])), high = Math.max(...known.map(r => r[12][0] + r[12].length - 2));
	let limit = 200, sorted = 4, down = true, text = '';
	const columns = HEADS.map((h, i) => i).filter(i => i !== 2 && (i !== 6 || rows.some(r => Number(r[6]) > 0)));

	function sort() {
		const sign = down ? -1 : 1;
		rows.sort((a, b) => (sorted < 2 ? a[sorted].localeCompare(b[sorted]) : Number(a[sorted]) - Number(b[sorted])) * sign);
	}

	function cell(r, i) {
		if (i === 12) {
			const td = make('td');
			if (r[12].length > 1)
				td.append(octaves(r[12], low, high, { class: 'hist' }));
			return td;
		}
		if (i < 2)
			return make('td', i === 0 ? { class: 't' } : {}, i === 0 && r[2] ? r[0] + ' (async)' : r[i]);
		if (r[2] && (i === 5 || i === 6))
			return make('td', { class: 'n' }, '-');
		return make('td', { class: 'n', ...(i > 3 ? { title: exact(r[i]) } : {}) }, i === 3 ? number(r[3]) : time(r[i]));
	}

	function fill() {
		const fits = text ? rows.filter(r => (r[0] + ' ' + r[1]).toLowerCase().includes(text)) : rows;
		const shown = fits.slice(0, limit);
		body.replaceChildren(...shown.map(r => make('tr', {}, ...columns.map(i => cell(r, i)))));
		status.textContent = (text ? `${number(fits.length)} of ${number(rows.length)} rows match, ${number(shown.length)} shown`
			: `${number(shown.length)} of ${number(rows.length)} rows shown`) +
			(data.rows_all > data.rows_shown ? `; ${number(data.rows_all - data.rows_shown)} of smaller total are not on this page` : '');
		more.hidden = shown.length === fits.length;
		[...head.children].forEach((th, k) => {
			if (columns[k] === sorted)
				th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
			else
				th.removeAttribute('aria-sort');
		});
	}

	for (const i of columns) {
		const th = make('th', { scope: 'col', class: i >= 3 && i < 12 ? 'n' : '' });
		th.append(i === 12 ? HEADS[i] : button(HEADS[i], () => {
			down = sorted === i ? !down : i >= 3;
			sorted = i;
			sort();
			fill();
		}));
		head.append(th);
	}
	filter.addEventListener('input', () => { text = filter.value.trim().toLowerCase(); limit = 200; fill(); });
	place.append(make('div', { class: 'tools' }, filter, status), make('div', { class: 'scroll', role: 'region', tabindex: '0',
		'aria-label': 'Table of spans' }, make('table', {}, make('caption', {}, 'spans by name and category'), make('thead', {}, head), body)), more);
	sort();
	fill();
	for (const region of byId('spans-tables').querySelectorAll('.scroll'))
		region.hidden = ['spans', 'waiting', 'async spans'].includes(region.getAttribute('aria-label'));
}

// ---- counters ----

function counters(place) {
	place.append(make('p', {}, `${data.counters.length} of ${data.all_counters} series of counters shown, by number of values; ` +
		`each has its least and its largest value over the time of the ${byId('timeline') ? 'timeline above' : 'trace'}.`));
	data.counters.forEach((k, index) => {
		const label = `${k.name}: ${k.series} · ${k.track}`, canvas = make('canvas', { 'aria-hidden': 'true' });
		const box = make('div', { class: 'stage', role: 'img', 'aria-label': `${label}: ${some(k.count, 'value')} from ${k.min} to ${k.max}` }, canvas);
		const s = { canvas, box }, width = k.step * data.bin, start = k.first * data.bin - Number(data.offset);
		place.append(make('div', { class: 'counter' }, make('div', {}, `${label}, ${some(k.count, 'value')}, ${k.min} to ${k.max}`), box));
		const draw = () => {
			const c = contextOf(s, 56);
			if (!c)
				return;
			const span = k.max - k.min || 1, y = v => 52 - (v - k.min) / span * 48, scale = s.width / (view.to - view.from);
			c.fillStyle = colors.fill[index % 8];
			let before = null;
			k.values.forEach((v, i) => {
				if (v === null)
					return;
				const [min, max, last] = Array.isArray(v) ? v : [v, v, v];
				const x = (start + i * width - view.from) * scale, top = y(max), bottom = y(min);
				if (before !== null && x > before.x)
					c.fillRect(before.x, before.y, x - before.x, 1);
				c.fillRect(x, top, Math.max(1, width * scale), Math.max(1.5, bottom - top));
				before = { x: x + Math.max(1, width * scale), y: y(last) };
			});
		};
		follow(box, draw);
	});
}

// ---- balance ----

function balance(place, tracks) {
	const m = data.matrix;
	if (m.columns.length < 2)
		return;
	const head = make('tr', {}, make('th', { scope: 'col' }, 'name'), ...m.columns.map(c => make('th', { scope: 'col' }, c))), body = make('tbody');
	for (const row of m.rows) {
		const values = row.slice(1).map(Number), most = Math.max(...values), tr = make('tr', {}, make('th', { scope: 'row' }, row[0]));
		for (const v of values) {
			const td = make('td', { title: exact(v) }, v > 0 ? time(v) : '-'), part = most > 0 ? v / most : 0;
			pictures.push(() => {
				const fill = colors.backRgb.map((v, i) => Math.round(v + (colors.rgb[0][i] - v) * part));
				td.style.backgroundColor = `rgb(${fill.join(' ')})`;
				td.style.color = luminance(fill) > 0.179 ? '#000000' : '#ffffff';
			});
			tr.append(td);
		}
		body.append(tr);
	}
	place.append(make('p', {}, `Self time of each name in each ${m.unit}; the cell with the strongest colour took most of its row.`),
		make('div', { class: 'scroll heat', role: 'region', tabindex: '0', 'aria-label': 'Heat map' }, make('table', {}, make('thead', {}, head), body)));
	const groups = joinTracks(tracks);
	if (groups.length > 1)
		idle(place, groups.slice(0, 128), (groups.length > 128 ? ` The first 128 of ${groups.length} processes are shown.` : '') +
			(tracks.length < data.all_tracks ? ' Only the tracks of the timeline count.' : ''));
}

// Busy share of each process over time.  left: what the picture leaves out.
function idle(place, groups, left) {
	const canvas = make('canvas', { 'aria-hidden': 'true' });
	const box = make('div', { class: 'stage', role: 'img', 'aria-label': 'Busy share of each process over time; the table of tracks has the sums' }, canvas);
	const s = { canvas, box };
	const draw = () => {
		const c = contextOf(s, groups.length * 15 + 2), left = Math.min(200, box.clientWidth / 3);
		if (!c)
			return;
		groups.forEach((g, i) => {
			c.fillStyle = colors.front;
			c.fillText(fit(c, g.process, left - 8), 4, i * 15 + 8);
			const width = s.width - left, cells = Math.floor(width / 3);
			for (let x = 0; x < cells; x++) {
				const from = view.from + x / cells * (view.to - view.from), to = view.from + (x + 1) / cells * (view.to - view.from);
				const v = sample(g.levels[0], binAt(g, 0, from), binAt(g, 0, to));
				const shade = v ? Math.ceil(Math.sqrt(Math.min(1, v.busy)) * 64) : 0;
				if (shade === 0)
					continue;
				c.fillStyle = colors.shades[shade];
				c.fillRect(left + x * width / cells, i * 15 + 1, width / cells + 0.5, 14);
			}
		});
	};
	place.append(make('p', {}, 'Busy share of each process over the time of the timeline: no colour is idle.' + left), box);
	follow(box, draw);
}

// ---- delays of arrows ----

function flows(place) {
	const known = data.flows.filter(f => f.hist.length > 1);
	const low = Math.min(...known.map(f => f.hist[0])), high = Math.max(...known.map(f => f.hist[0] + f.hist.length - 2));
	const octave = i => time(i === 0 ? 0 : 2 ** (i + 5)), list = make('ul', { class: 'flows' });
	for (const f of known)
		list.append(make('li', {}, make('div', {}, `${f.leaving} → ${f.arriving}`), octaves(f.hist, low, high, { class: 'bars' }),
			make('div', { class: 'range' }, `${some(f.count, 'arrow')}, p50 ${time(f.p50)}, p99 ${time(f.p99)}`)));
	place.append(make('p', {}, `Delays from ${octave(low)} to ${octave(high + 1)}; each bar is twice as long as the one before it.`), list);
}

// ---- all ----

function show(id, draw) {
	const place = byId(id);
	if (place) {
		place.hidden = false;
		draw(place);
	}
}

readColors();
addLinks();
if (data) {
	const tracks = decodeTracks();
	if (tracks.length > 0) {
		show('timeline-picture', place => timeline(place, tracks));
		show('flame-picture', place => flame(place, data));
		show('balance-picture', place => balance(place, tracks));
	}
	for (const [kind, of] of Object.entries(data.samples))
		show(`samples-${kind}-picture`, place => flame(place, of));
	if (data.rows.length > 0)
		show('spans-picture', table);
	show('counters-picture', counters);
	if (data.flows.length > 0)
		show('flows-picture', flows);
}
drawAll();
addEventListener('resize', () => soon(drawAll));
darkMode.addEventListener('change', drawAll);
printing.addEventListener('change', drawAll);
root.dataset.ready = '1';
})();
