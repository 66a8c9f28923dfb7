// A picture in memory with smooth lines and plain lettering, written as a PNG (W3C, "Portable Network Graphics", 3rd edition).
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const TRUE_COLOUR = 2;

// Letters as a plotter draws them: strokes apart by blanks, each a row of points `xy` on a grid where a capital
// reaches from y = 0 to the baseline at 6 and a small letter begins at 2.
const STROKES = {
  0: '103041453616050110',
  1: '011016',
  2: '01103041420646',
  3: '0110304142334445361605 1333',
  4: '36300444',
  5: '400002324345361605',
  6: '3010010516364543321203',
  7: '004016',
  8: '103041423313020110 3344453616050413',
  9: '1636454130100103143443',
  '.': '0606',
  ',': '1607',
  a: '4246 4332120305163645',
  c: '4332120305163645',
  d: '4046 4332120305163645',
  e: '04444332120305163645',
  g: '4247381807 4332120305163645',
  h: '0006 0312324346',
  i: '0206 0000',
  l: '0006',
  n: '0206 0312324346',
  o: '123243453616050312',
  p: '0208 0312324345361605',
  r: '0206 03122232',
  s: '43321203143445361605',
  t: '10152636 0232',
  u: '0205163645 4246',
};
const GAP = 2; // between two letters, on that grid
const BLANK = 3;

/** @typedef {readonly [number, number, number]} Colour red, green and blue, 0 to 255 */

export class Canvas {
  constructor(/** @type {number} */ width, /** @type {number} */ height, /** @type {Colour} */ background) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * 3);
    for (let i = 0; i < this.pixels.length; i++) this.pixels[i] = background[i % 3];
  }

  /** A line through all the points with round ends and corners. Each pixel is painted once, by its distance from the line. */
  line(/** @type {[number, number][]} */ points, /** @type {Colour} */ colour, thickness = 1) {
    const reach = thickness / 2 + 1;
    const coverage = new Map();
    for (let i = 0; i < points.length; i++) {
      const [x1, y1] = points[Math.max(0, i - 1)];
      const [x2, y2] = points[i];
      const bottom = Math.min(this.height - 1, Math.ceil(Math.max(y1, y2) + reach));
      const right = Math.min(this.width - 1, Math.ceil(Math.max(x1, x2) + reach));
      for (let y = Math.max(0, Math.floor(Math.min(y1, y2) - reach)); y <= bottom; y++) {
        for (let x = Math.max(0, Math.floor(Math.min(x1, x2) - reach)); x <= right; x++) {
          const covered = Math.min(1, thickness / 2 + 0.5 - distance(x + 0.5, y + 0.5, x1, y1, x2, y2));
          const pixel = y * this.width + x;
          if (covered > (coverage.get(pixel) ?? 0)) coverage.set(pixel, covered);
        }
      }
    }
    for (const [pixel, covered] of coverage) {
      for (let i = 0; i < 3; i++) {
        this.pixels[pixel * 3 + i] += Math.round((colour[i] - this.pixels[pixel * 3 + i]) * covered);
      }
    }
  }

  /** Writes `text` with its baseline at `y`; `align` says which part of it stands at `x`: 0 its left end, 1 its right end. */
  text(text, x, y, colour, { size = 2, align = 0 } = {}) {
    const widths = [...text].map(letterWidth);
    const total = widths.reduce((sum, width) => sum + width, 0) - GAP;
    let left = x - align * total * size;
    for (const [i, letter] of [...text].entries()) {
      for (const stroke of (STROKES[letter] ?? '').split(' ')) {
        const points = (stroke.match(/../g) ?? []).map(([dx, dy]) => [left + dx * size, y + (dy - 6) * size]);
        this.line(points, colour, size * 0.8);
      }
      left += widths[i] * size;
    }
  }

  /** The picture as the bytes of a PNG file. */
  toPng() {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(this.width, 0);
    header.writeUInt32BE(this.height, 4);
    header.set([8, TRUE_COLOUR], 8);
    const stride = this.width * 3;
    const rows = Buffer.alloc((stride + 1) * this.height); // each row begins with its filter: 0, none
    for (let y = 0; y < this.height; y++) {
      rows.set(this.pixels.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
    }
    return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')]);
  }
}

function letterWidth(letter) {
  const strokes = STROKES[letter];
  if (strokes === undefined) return BLANK + GAP;
  return Math.max(...(strokes.match(/\d\d/g) ?? []).map(([x]) => Number(x))) + GAP;
}

/** How far the point (x, y) is from the line between the two others. */
function distance(x, y, x1, y1, x2, y2) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1);
  const nearest = Math.min(1, Math.max(0, along));
  return Math.hypot(x - x1 - nearest * dx, y - y1 - nearest * dy);
}

function chunk(type, data = Buffer.alloc(0)) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
