/** How the caller wants its request handled and answered. */
export interface Preferences {
  lenient: boolean
  minimal: boolean
  /** What of it was honoured, as `Preference-Applied` says it; empty: nothing. */
  applied: string
}

/** What we honour; whatever else is preferred is ignored, as the RFC says. */
const SUPPORTED = ['return=minimal', 'return=representation', 'handling=lenient', 'handling=strict']

/** What stands between commas; a comma in quotes is no such. */
const PREFERENCE_PATTERN = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/**
 * Reads the `Prefer` header; of two that contradict each other the first wins.
 *
 * @see [RFC 7240 §2](https://www.rfc-editor.org/rfc/rfc7240#section-2)
 */
export function readPrefer(header = ''): Preferences {
  const applied = new Map<string, string>()
  for (const said of header.match(PREFERENCE_PATTERN) ?? []) {
    const [name, value = ''] = said.split(';')[0]!.replaceAll('"', '').split('=')
    const preference = `${name!.trim()}=${value.trim()}`.toLowerCase()
    const key = preference.split('=')[0]!
    if (SUPPORTED.includes(preference) && !applied.has(key)) applied.set(key, preference)
  }
  return {
    lenient: applied.get('handling') === 'handling=lenient',
    minimal: applied.get('return') === 'return=minimal',
    applied: [...applied.values()].join(', '),
  }
}
