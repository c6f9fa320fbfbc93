// The accent color of an account: it is read as text on white, and has white text on it.

/** The least contrast of text (WCAG 2.2, 1.4.3). */
export const MIN_CONTRAST = 4.5

/** Whether a text is a color as `#rrggbb`. */
export const isColor = (text: string): boolean => /^#[\da-f]{6}$/i.test(text)

const channelsOf = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

/** Returns the relative luminance of a color (WCAG 2.2). */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast of two colors, from 1 to 21 (WCAG 2.2). */
export function contrastOf(first: string, second: string): number {
  const [low = 0, high = 0] = [luminanceOf(first), luminanceOf(second)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

/** The backgrounds of text in dark pages, the lightest of them. */
const DARK_PANEL = '#172023'

/** Returns a color mixed with white: 0 is the color, 1 white. */
const lighten = (color: string, share: number): string =>
  `#${channelsOf(color)
    .map((channel) => Math.round(channel + (255 - channel) * share))
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')}`

/** Returns the color that stands for an accent color as text on dark pages: as little lighter as it can be read. */
export function darkAccentOf(color: string): string {
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = lighten(color, share)
    // A little more than is required, because some text stands on a lighter mark.
    if (contrastOf(candidate, DARK_PANEL) >= MIN_CONTRAST + 0.5) return candidate
  }
  return '#ffffff'
}
