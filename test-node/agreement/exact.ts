import { type Schema, typeOf } from './schemas.ts'

// The rules of `x-rules` for numbers, implemented once more on the digits as written, because no
// schema can check them.

/** A number with its text in the JSON. */
class Source {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const keep = (_: string, value: unknown, { source }: { source: string }) =>
  typeof value === 'number' ? new Source(source) : value

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** Returns the rule that a number breaks if it may have `most` decimal places, or null. */
function brokenBy(text: string, most: number): string | null {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return null
  const places = fraction.length - Number(exponent) - (digits.length - significant.length)
  const before = significant.length - places
  const isLarge = before > 16 || (before === 16 && significant !== '1')
  if (significant.length > 15) return 'digits'
  if (!Number.isFinite(Number(text))) return 'number'
  if (places > (most === 8 ? 8 : 12) || isLarge) return 'digits'
  return places > most ? 'decimals' : null
}

const PLACES: Record<string, number> = {
  Figure: 12,
  NotNegativeFigure: 12,
  Amount: 8,
  Money: 2,
  NotNegative: 8,
  Lots: 2,
  Decimal: 8,
}

/** Returns the listed members that are numbers, each with the rule that it breaks, or null. */
export function numbersOf({ properties = {} }: Schema, text: string): Map<string, string | null> {
  const record: unknown = JSON.parse(text, keep as never)
  const found = new Map<string, string | null>()
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return found
  for (const [name, value] of Object.entries(record)) {
    const type = Object.hasOwn(properties, name) ? typeOf(properties[name]!) : null
    const most = PLACES[type ?? '']
    if (most === undefined) continue
    if (value instanceof Source) found.set(`/${name}`, brokenBy(value.text, most))
    else if (typeof value === 'string') found.set(`/${name}`, brokenBy(value, most))
  }
  return found
}
