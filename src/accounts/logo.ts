import type { Account } from '../platform/db/schema.ts'

// The logo of an account. A browser shows it as an image only, and the service sends it with a policy that
// runs nothing; what is refused here would not work, or would be a mistake.

/** The largest logo in bytes. */
export const MAX_LOGO_BYTES = 51_200

/** A logo that was checked. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png'
  readonly bytes: number
  /** Base64. */
  readonly data: string
}

/** What an account says of its logo. */
export type LogoMeta = Pick<Logo, 'type' | 'bytes'> & {
  /** Changes with the image: the address of the logo has it, so that browsers can keep it. */
  readonly digest: string
}

/** Returns what an account says of its logo; null if it has none. */
export const logoOf = ({ logo }: Pick<Account, 'logo'>): LogoMeta | null =>
  logo === null ? null : JSON.parse(logo)

const DATA_URL =
  /^data:(?:image\/(?:svg\+xml|png))?(?:;charset=utf-8)?;base64,([A-Za-z0-9+/]*={0,2})$/

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Returns a logo that a caller sent as a data URL; or why it is refused, as a sentence. */
export function readLogo(text: string): Logo | string {
  const [, data] = DATA_URL.exec(text) ?? []
  if (data === undefined || data.length % 4 !== 0) {
    return 'must be an SVG or PNG image as a data URL: data:image/png;base64, and the file in Base64'
  }
  // Base64 is a third longer than its bytes.
  if (data.length > (MAX_LOGO_BYTES / 3 + 1) * 4) return TOO_LARGE
  const bytes = Uint8Array.fromBase64(data)
  if (bytes.byteLength > MAX_LOGO_BYTES) return TOO_LARGE
  const isPng = PNG.every((one, i) => bytes[i] === one)
  if (!isPng && !isSvg(bytes)) return 'must be an SVG or PNG image: this file is neither'
  return { type: isPng ? 'image/png' : 'image/svg+xml', bytes: bytes.byteLength, data }
}

const TOO_LARGE = `must have at most ${MAX_LOGO_BYTES.toLocaleString('en')} bytes (50 KB): save the image smaller`

const isSvg = (bytes: Uint8Array): boolean =>
  /^\s*(?:<\?xml[^>]*\?>\s*)?(?:(?:<!--[\s\S]*?-->|<!DOCTYPE[^>]*>)\s*)*<svg\b[^>]*>/i.test(
    decode(bytes),
  )

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return ''
  }
}
