/** The preferences of a request that the service applies. */
export interface Preferences {
  lenient: boolean
  minimal: boolean
  /** The value of `Preference-Applied`; empty if no preference was applied. */
  applied: string
}

/** The supported preferences. Others are ignored, as RFC 7240 requires. */
const SUPPORTED = ['return=minimal', 'return=representation', 'handling=lenient', 'handling=strict']

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
    const [withoutParameters = ''] = text.split(';')
    const [name = '', value = ''] = withoutParameters.replaceAll('"', '').split('=')
    const key = name.trim().toLowerCase()
    const preference = `${key}=${value.trim().toLowerCase()}`
    if (SUPPORTED.includes(preference) && !applied.has(key)) applied.set(key, preference)
  }
  return {
    lenient: applied.get('handling') === 'handling=lenient',
    minimal: applied.get('return') === 'return=minimal',
    applied: [...applied.values()].join(', '),
  }
}
