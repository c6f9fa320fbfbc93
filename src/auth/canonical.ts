import { base64url } from 'jose'

/**
 * Whether this is the one text that its bytes are encoded as. base64url is read leniently: other
 * last characters, or spaces, would decode to the same bytes, and pass for what we gave out.
 */
export function isCanonical(text: string): boolean {
  try {
    return base64url.encode(base64url.decode(text)) === text
  } catch {
    return false
  }
}
