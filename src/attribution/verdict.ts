import { accountTag, affiliateTag, BODY_LENGTH, decodeTrackingCode, PREFIX } from './code.ts'

/** The verdict on a customer's `tracking_data` (contract §9). */
export type AttributionVerdict = 'attributed' | 'altered' | 'foreign' | 'unrecognised' | 'conflict'

/** A verdict, with the id of the link that it proves, or null. */
export interface Attribution {
  verdict: AttributionVerdict
  link: string | null
}

/** Matches a text that contains most of a code. */
const CODE_FRAGMENT = new RegExp(`${PREFIX}[\\w-]{20,}`, 'i')

/**
 * Returns a function that verifies the `tracking_data` of an account's customers. It reads no database:
 * a code names its account, affiliate and link. Pass `affiliate` if the sender names the paid affiliate;
 * another affiliate in the code is a `conflict`.
 */
export function verifierFor(keys: string, account: string) {
  const ownTag = accountTag(account)
  return async function verify(tracking_data: string, affiliate?: string): Promise<Attribution> {
    const code = await decodeTrackingCode(keys, tracking_data)
    if (!code) {
      return {
        verdict: (await looksAltered(keys, tracking_data)) ? 'altered' : 'unrecognised',
        link: null,
      }
    }
    if (code.account !== (await ownTag)) return { verdict: 'foreign', link: null }
    const conflicts = affiliate !== undefined && code.affiliate !== (await affiliateTag(affiliate))
    return { verdict: conflicts ? 'conflict' : 'attributed', link: code.link_id }
  }
}

/** Returns whether a text looks like a code that was changed, cut or extended. */
async function looksAltered(keys: string, text: string): Promise<boolean> {
  if (text.toLowerCase().startsWith(PREFIX) || CODE_FRAGMENT.test(text)) return true
  return (
    text.length >= BODY_LENGTH &&
    (await decodeTrackingCode(keys, PREFIX + text.slice(-BODY_LENGTH))) !== null
  )
}
