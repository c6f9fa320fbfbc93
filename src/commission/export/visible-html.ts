import { html as rawHtml } from 'hono/html'
import { visible } from '../engine/visible.ts'

/** The spaces and marks that `Intl` writes into numbers and days. */
const WRITTEN_BY_INTL = /([\u00a0\u2009\u202f\u200e\u200f\u061c]+)/

const isAscii = (text: string): boolean => /^[\n -~]*$/.test(text)

/** Returns a text with the names of its invisible characters, except for those of numbers and days. */
const shown = (text: string): string =>
  isAscii(text)
    ? text
    : text
        .split(WRITTEN_BY_INTL)
        .map((one, i) => (i % 2 === 0 ? visible(one) : one))
        .join('')

/** Escapes HTML. Invisible characters in its values, such as those that turn text, are shown by their names. */
export const html: typeof rawHtml = (strings, ...values) =>
  rawHtml(strings, ...values.map((value) => (typeof value === 'string' ? shown(value) : value)))
