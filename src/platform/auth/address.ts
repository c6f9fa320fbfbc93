/**
 * Returns the client address by which wrong secrets are counted: an IPv4 address, or the /64 prefix
 * of an IPv6 address, because one household controls all of its addresses. Cloudflare overwrites the
 * header, so a caller cannot forge it.
 */
export function clientAddress(headers: Headers): string {
  const address = headers.get('CF-Connecting-IP') ?? ''
  if (!address.includes(':')) return address || 'unknown'
  if (!URL.canParse(`http://[${address}]`)) return 'unknown'
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const halves = canonical.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array<string>(8 - halves.flat().length).fill('0')
  const groups = halves.flatMap((half, i) => (i === 0 ? half : [...zeros, ...half]))
  return groups.slice(0, 5).join() === '0,0,0,0,0' && groups[5] === 'ffff'
    ? groups.slice(6).join(':')
    : `${groups.slice(0, 4).join(':')}::/64`
}
