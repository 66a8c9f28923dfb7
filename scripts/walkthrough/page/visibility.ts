/** A rectangle in pixels of the page. */
export interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const OVERLAYS = '.quick-input-widget, .notification-toast, .monaco-hover, .monaco-dialog-box';

/** The product of the opacities from the element up. */
export function opacityOf(element: Element): number {
  let product = 1;
  for (let each: Element | null = element; each !== null; each = each.parentElement) {
    product *= Number(getComputedStyle(each).opacity);
  }
  return product;
}

/** The part of the page in which an element can be seen. */
export function clipOf(element: Element): Bounds {
  const clip = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  for (let each: Element | null = element; each !== null; each = each.parentElement) {
    if (getComputedStyle(each).overflow === 'visible' || /^(?:BODY|HTML)$/.test(each.tagName)) continue;
    const box = each.getBoundingClientRect();
    clip.left = Math.max(clip.left, box.left);
    clip.top = Math.max(clip.top, box.top);
    clip.right = Math.min(clip.right, box.right);
    clip.bottom = Math.min(clip.bottom, box.bottom);
  }
  return clip;
}

/** Whether an element is in front of the rest of the window. */
export function isOverlay(element: Element): boolean {
  return element.closest(OVERLAYS) !== null;
}

/** Whether something in front of the window covers a point of the element. */
export function isCovered(element: Element, x: number, y: number): boolean {
  return [...document.querySelectorAll(OVERLAYS)].some((overlay) => {
    const box = overlay.getBoundingClientRect();
    const isThere = x > box.left && x < box.right && y > box.top && y < box.bottom;
    return isThere && !overlay.contains(element) && opacityOf(overlay) > 0.5;
  });
}
