import { svg } from './elements.ts';

// Drawn in a 16 × 16 box with one stroke width.
const PATHS = {
  batch: 'M2.5 5.5h8v8h-8zM5.5 5.5v-3h8v8h-3',
  chevron: 'M5.5 3.5L10 8l-4.5 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  debug: 'M5 6.5a3 3 0 0 1 6 0v3a3 3 0 0 1-6 0zM2 5l3 2M14 5l-3 2M1.8 9H5M14.2 9H11M3 13l2.4-2M13 13l-2.4-2',
  done: 'M3 8.5l3.2 3L13 4.5',
  export: 'M8 10V2.5M5 5l3-3 3 3M3 9v4.5h10V9',
  failed: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  flow: 'M5.5 2.5h5v3h-5zM1.5 10.5h5v3h-5zM9.5 10.5h5v3h-5zM8 5.5V8M4 10.5V8h8v2.5',
  help: 'M5.7 6a2.3 2.3 0 1 1 3.3 2.1c-.7.4-1 .8-1 1.6M8 12.2v.6',
  more: 'M3.2 8h.6M7.7 8h.6M12.2 8h.6',
  next: 'M4.5 3.5L10 8l-5.5 4.5zM12 3.5v9',
  node: 'M3 4.5h10v7H3z',
  outline: 'M2.5 3.5h4M5 8h8.5M5 12.5h8.5M2.5 3.5v9H5M2.5 8H5M9 3.5h4.5',
  parallel: 'M4 2.5v11M8 2.5v11M12 2.5v11',
  pin: 'M6 2.5h4l-.5 4.5 2.5 2.5H4L6.5 7zM8 9.5v4.5',
  previous: 'M10.5 3.5L6 8l4.5 4.5',
  rag: 'M6.8 11.3a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10 10l3.8 3.8',
  run: 'M4.5 3l8 5-8 5z',
  search: 'M6.8 11.3a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10 10l3.8 3.8',
  stop: 'M4 4h8v8H4z',
  submit:
    'M8 9.5L5 6.8C6 3.8 8.5 2 13.5 2.500c.5 5-1.300 7.500-4.300 8.500zM5 6.800L2.500 7.500l1.700 2M8 9.500l-.7 3.500-2-1.700M3 13l1.700-1.700',
  tidy: 'M2.5 3h11M5 6.500h6M2.500 10h11M5 13.500h6',
  unknown: 'M5.7 6a2.3 2.3 0 1 1 3.3 2.1c-.7.4-1 .8-1 1.6M8 12.2v.6',
  warning: 'M8 2.500l6 11H2zM8 6.500v3.500M8 11.500v.6',
  zoomIn: 'M3 8h10M8 3v10',
  zoomOut: 'M3 8h10',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers: the text beside it has its meaning. */
export function icon(name: IconName): SVGSVGElement {
  const picture = svg('svg', { class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' });
  picture.append(svg('path', { d: PATHS[name] }));
  return picture;
}

/** The same icon as part of a drawing. */
export function iconPath(name: IconName, x: number, y: number, className: string): SVGPathElement {
  return svg('path', { class: `icon ${className}`, d: PATHS[name], transform: `translate(${x} ${y})` });
}
