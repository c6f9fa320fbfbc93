import { escapeText } from '../../platform/validation/quote.ts'

/**
 * Returns a JSON value with the control characters of all its strings escaped. Senders choose ids and
 * words; a line break in one of them would begin a sentence of its own.
 */
export function escapeStrings<T>(value: T): T {
  return escapeAny(value) as T
}

function escapeAny(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escapeAny)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [escapeText(name), escapeAny(one)]),
  )
}
