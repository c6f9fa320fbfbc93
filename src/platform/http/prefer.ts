/** The preferences of a request that the service applies. */
export interface Preferences {
  lenient: boolean
  minimal: boolean
  /** The value of `Preference-Applied`; empty if no preference was applied. */
  applied: string
}

/** The supported preferences and their names. Others are ignored, as RFC 7240 requires. */
const SUPPORTED: ReadonlyMap<string, string> = new Map([
  ['return=minimal', 'return'],
  ['return=representation', 'return'],
  ['handling=lenient', 'handling'],
  ['handling=strict', 'handling'],
])

/** Matches the text between commas; commas within quotes do not separate. */
const PREFERENCE_PATTERN = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * Reads the `Prefer` header. The first of two contradicting preferences wins.
 *
 * @see [RFC 7240 §2](https://www.rfc-editor.org/rfc/rfc7240#section-2)
 */
export function readPrefer(header = ''): Preferences {
  const applied = new Map<string, string>()
  for (const text of header.match(PREFERENCE_PATTERN) ?? []) {
    const withoutParameters = text.replace(/;.*/s, '').replaceAll('"', '').toLowerCase()
    const preference = withoutParameters
      .split('=', 2)
      .map((part) => part.trim())
      .join('=')
    const name = SUPPORTED.get(preference)
    if (name && !applied.has(name)) applied.set(name, preference)
  }
  return {
    lenient: applied.get('handling') === 'handling=lenient',
    minimal: applied.get('return') === 'return=minimal',
    applied: [...applied.values()].join(', '),
  }
}
