/** Attributes of a shape. */
export type Attributes = Readonly<Record<string, string | number>>;

/** The names of VS Code's theme colours without `--vscode-`, for what can have them. */
export interface ThemeColors {
  readonly texts: readonly string[];
  readonly boxes: readonly string[];
}

interface Color {
  readonly rgb: readonly number[];
  readonly alpha: number;
}

type Palette = readonly (readonly [name: string, color: Color])[];

// Two variables can have the same colour in one theme and not in another, so that the place decides between them.
const REGIONS = [
  ['.quick-input-list .monaco-list-row.focused', 'quickInputList-focus'],
  ['.monaco-button', 'button-'],
  ['.monaco-inputbox', 'input-'],
  ['.quick-input-widget', 'quickInput-'],
  ['.part.statusbar', 'statusBar-'],
  ['.part.sidebar', 'sideBar-'],
  ['.part.panel', 'panel-'],
] as const;
const ALPHA_WEIGHT = 9;
const [OWN, FOREIGN] = [-2, 5];
const LEAST_OPACITY = 0.04;

/** Names the colours of a page by theme colours. */
export class Paints {
  readonly #palettes: Readonly<Record<keyof ThemeColors, Palette>>;

  constructor(colors: ThemeColors) {
    this.#palettes = { texts: paletteOf(colors.texts), boxes: paletteOf(colors.boxes) };
  }

  /** A fill or a stroke in the theme colour that is nearest to this one; undefined where nothing would be seen. */
  paint(
    element: Element,
    name: 'fill' | 'stroke',
    text: string,
    { kind, opacity }: { readonly kind: keyof ThemeColors; readonly opacity: number },
  ): Attributes | undefined {
    const color = parseColor(text);
    if (color.alpha * opacity < LEAST_OPACITY) return undefined;
    const region = REGIONS.find(([selector]) => element.closest(selector) !== null)?.[1];
    const rank = ([variable, known]: Palette[number]): number => distance(color, known) + preference(variable, region);
    const [best] = this.#palettes[kind].toSorted((one, two) => rank(one) - rank(two));
    if (best === undefined) return undefined;
    const strength = Math.round(Math.min(1, (color.alpha / best[1].alpha) * opacity) * 10) / 10;
    const otherwise = kind === 'boxes' ? 'transparent' : 'currentColor'; // a high contrast theme has no colour for some
    return {
      [name]: `var(--vscode-${best[0]}, ${otherwise})`,
      ...(strength < 1 ? { [`${name}-opacity`]: strength } : {}),
    };
  }
}

function paletteOf(names: readonly string[]): Palette {
  const themed = document.querySelector('.monaco-workbench') ?? document.body;
  const probe = themed.appendChild(document.createElement('i'));
  const known = names.flatMap((name): [string, Color][] => {
    probe.style.color = `var(--vscode-${name}, transparent)`;
    const color = parseColor(getComputedStyle(probe).color);
    return color.alpha === 0 ? [] : [[name, color]];
  });
  probe.remove();
  return known;
}

/** From how browsers write computed colours: `rgb(1, 2, 3)`, `rgba(1, 2, 3, 0.5)` or `color(srgb 0.1 0.2 0.3 / 0.5)`. */
function parseColor(text: string): Color {
  const numbers = (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
  const scale = text.startsWith('color(') ? 255 : 1;
  return { rgb: numbers.slice(0, 3).map((part) => part * scale), alpha: numbers[3] ?? (text === 'none' ? 0 : 1) };
}

function distance(one: Color, two: Color): number {
  const steps = two.rgb.map((part, index) => part - (one.rgb[index] ?? 0));
  return Math.hypot(...steps) + Math.abs(two.alpha - one.alpha) * ALPHA_WEIGHT;
}

function preference(variable: string, region: string | undefined): number {
  if (region !== undefined && variable.startsWith(region)) return OWN;
  return REGIONS.some(([, prefix]) => prefix !== region && variable.startsWith(prefix)) ? FOREIGN : 0;
}
