import { accountTag, affiliateTag, BODY, decode, PREFIX } from './code.ts'

/** What `tracking_data` proves of where a customer came from (§9). */
export type Verdict = 'attributed' | 'altered' | 'foreign' | 'unrecognised' | 'conflict'

/** A verdict, and the link that is proven to have led here. */
export interface Proof {
  verdict: Verdict
  link: string | null
}

/** A text that can only have been a code. */
const ONCE_OURS = new RegExp(`${PREFIX}[\\w-]{20,}`, 'i')

/**
 * Proves what the customers of one account returned. Nothing is looked up: the code says by itself
 * whose it is. `affiliate`: who is paid, where the sender names that.
 */
export function prover(keys: string, account: string) {
  const own = accountTag(account)
  return async function prove(tracking_data: string, affiliate?: string): Promise<Proof> {
    const code = await decode(keys, tracking_data)
    if (!code) {
      return {
        verdict: (await wasOurs(keys, tracking_data)) ? 'altered' : 'unrecognised',
        link: null,
      }
    }
    if (code.account !== (await own)) return { verdict: 'foreign', link: null }
    const conflicts = affiliate !== undefined && code.affiliate !== (await affiliateTag(affiliate))
    return { verdict: conflicts ? 'conflict' : 'attributed', link: code.link_id }
  }
}

/** Whether a text was a code of ours before somebody changed it, cut it, or added to it. */
async function wasOurs(keys: string, text: string): Promise<boolean> {
  if (text.toLowerCase().startsWith(PREFIX) || ONCE_OURS.test(text)) return true
  return text.length >= BODY && (await decode(keys, PREFIX + text.slice(-BODY))) !== null
}
