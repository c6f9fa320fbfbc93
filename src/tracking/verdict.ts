import { accountTag, affiliateTag, BODY_LENGTH, decodeTrackingCode, PREFIX } from './code.ts'

/** What `tracking_data` proves of where a customer came from (§9). */
export type AttributionVerdict = 'attributed' | 'altered' | 'foreign' | 'unrecognised' | 'conflict'

/** A verdict, and the link that is proven to have led here. */
export interface Attribution {
  verdict: AttributionVerdict
  link: string | null
}

/** A text that can only have been a code. */
const ONCE_OURS = new RegExp(`${PREFIX}[\\w-]{20,}`, 'i')

/**
 * Proves what the customers of one account returned. Nothing is looked up: the code says by itself
 * whose it is. `affiliate`: who is paid, where the sender names that.
 */
export function verifierFor(keys: string, account: string) {
  const own = accountTag(account)
  return async function prove(tracking_data: string, affiliate?: string): Promise<Attribution> {
    const code = await decodeTrackingCode(keys, tracking_data)
    if (!code) {
      return {
        verdict: (await looksAltered(keys, tracking_data)) ? 'altered' : 'unrecognised',
        link: null,
      }
    }
    if (code.account !== (await own)) return { verdict: 'foreign', link: null }
    const conflicts = affiliate !== undefined && code.affiliate !== (await affiliateTag(affiliate))
    return { verdict: conflicts ? 'conflict' : 'attributed', link: code.link_id }
  }
}

/** Whether a text was a code of ours before somebody changed it, cut it, or added to it. */
async function looksAltered(keys: string, text: string): Promise<boolean> {
  if (text.toLowerCase().startsWith(PREFIX) || ONCE_OURS.test(text)) return true
  return (
    text.length >= BODY_LENGTH &&
    (await decodeTrackingCode(keys, PREFIX + text.slice(-BODY_LENGTH))) !== null
  )
}
