/** The preferences of a request that the service applies. */
export interface Preferences {
  lenient: boolean
  minimal: boolean
  /** The value of `Preference-Applied`; empty if no preference was applied. */
  applied: string
}

/** The supported preferences. Others are ignored, as RFC 7240 requires. */
const SUPPORTED: readonly string[] = [
  'return=minimal',
  'return=representation',
  'handling=lenient',
  'handling=strict',
]

/**
 * Reads the `Prefer` header. The first of two contradicting preferences wins.
 *
 * @see [RFC 7240 §2](https://www.rfc-editor.org/rfc/rfc7240#section-2)
 */
export function readPrefer(header = ''): Preferences {
  const sent = header.split(',').map((text) => text.replace(/;.*|[\s"]/gs, '').toLowerCase())
  const [returned, handling] = ['return=', 'handling='].map((name) =>
    sent.find((one) => one.startsWith(name) && SUPPORTED.includes(one)),
  )
  return {
    lenient: handling === 'handling=lenient',
    minimal: returned === 'return=minimal',
    applied: [returned, handling].filter(Boolean).join(', '),
  }
}
