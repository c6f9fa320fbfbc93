import { decryptText, encryptText } from '../platform/auth/encrypt.ts'
import { importKeys } from '../platform/auth/hmac-keys.ts'
import { digest } from '../platform/auth/secret.ts'
import { badSecret } from '../platform/errors.ts'
import { maskNumber } from '../platform/validation/mask-numbers.ts'
import type { Details, StoredDetails } from './model.ts'

// Bank details are encrypted under keys that are derived from TRACKING_KEYS, where old keys stay: the first key encrypts.
// Whoever has only the database cannot read them, or put those of one affiliate in the place of another's.

const encoder = new TextEncoder()

/** Which version of which details. */
export type DetailsKey = Pick<StoredDetails, 'party' | 'id' | 'version'> & {
  readonly account: string
}

const useOf = ({ account, party, id, version }: DetailsKey) => ({
  purpose: 'encrypt bank details',
  context: JSON.stringify([account, party, id, version]),
})

const sign = async (key: CryptoKey, text: string) =>
  new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))).toHex()

const idOf = async (key: CryptoKey) =>
  (await digest(await sign(key, 'name the key of bank details'))).slice(0, 16)

/** Returns the name of the key that encrypts now. */
export const currentKeyId = async (env: Env): Promise<string> =>
  idOf((await importKeys(env.TRACKING_KEYS))[0])

/**
 * Returns a digest of a file by the key of an earlier digest, else by the first one; the earlier digest itself if its
 * key is gone. Without a key, whoever reads the digest could try numbers of accounts until they find it again.
 */
export async function fileDigest(env: Env, text: string, earlier: string | null) {
  for (const key of await importKeys(env.TRACKING_KEYS)) {
    const id = await idOf(key)
    if (earlier === null || earlier.startsWith(id))
      return `${id}-${await sign(key, `file ${text}`)}`
  }
  return earlier
}

/** Returns what names the account of some details: the same of two parties means one account. */
const numberOf = ({ iban, wallet_address, account, bic, routing, method, email }: Details) =>
  iban ??
  wallet_address ??
  (account ? `${routing ?? bic ?? ''} ${account}` : method !== 'manual' && email?.toLowerCase())

/**
 * Returns details as they are stored, with how VAT applies, which is decided after they are entered, with the name of the key, and a digest of the number of the account, which nobody
 * can compute without the key.
 *
 * @throws ApiError `unavailable` if TRACKING_KEYS is missing or unreadable.
 */
export async function encryptDetails(env: Env, of: DetailsKey, details: Details) {
  const [first] = await importKeys(env.TRACKING_KEYS)
  const number = numberOf(details)
  const { vat_id, ...tax } = details.tax ?? {}
  const entered = { ...details, tax: vat_id ? { vat_id } : undefined }
  return {
    tax: JSON.stringify(tax),
    details: await encryptText(first, useOf(of), JSON.stringify(entered)),
    key_id: await currentKeyId(env),
    digest: number ? await sign(first, `account number ${of.account} ${number}`) : null,
  }
}

/**
 * Returns stored details; null if they are erased.
 *
 * @throws ApiError `unavailable` if no key of TRACKING_KEYS decrypts them.
 */
export async function decryptDetails(
  env: Env,
  account: string,
  {
    party,
    id,
    version,
    details,
    tax,
  }: Pick<StoredDetails, 'party' | 'id' | 'version' | 'details' | 'tax'>,
): Promise<Details | null> {
  if (details === null) return null
  const keys = await importKeys(env.TRACKING_KEYS)
  const text = await decryptText(keys, useOf({ account, party, id, version }), details)
  if (text === null) throw badSecret('TRACKING_KEYS')
  const entered: Details = JSON.parse(text)
  return tax === '{}' ? entered : { ...entered, tax: { ...entered.tax, ...JSON.parse(tax) } }
}

/** What everybody sees of the members that are not shown as they are. */
const MASKS = new Map<string, (text: string) => string>([
  ...['iban', 'account', 'routing', 'wallet_address', 'vat_id'].map(
    (name) => [name, maskNumber] as const,
  ),
  ...['street', 'building', 'postcode'].map((name) => [name, () => '…'] as const),
  ['email', (email) => email.replace(/^(.)[^@]*/, '$1…')],
])

/** Returns whether everybody but the bank sees a member masked: who changes details cannot repeat it. */
export const isHidden = (name: string): boolean => MASKS.has(name)

/** Returns details as everybody but the bank sees them: enough to recognize an account, too little to pay it. */
export const maskDetails = (details: Details): Details =>
  JSON.parse(JSON.stringify(details), (name, value) => {
    const mask = MASKS.get(name)
    return mask ? mask(value) : value
  })
