/**
 * Where a request comes from, as guesses are counted: an IPv4 address, or the /64 of an IPv6 one,
 * since one household has all of it. Cloudflare sets the header, whatever a caller sends.
 */
export function clientAddress(headers: Headers): string {
  const said = headers.get('CF-Connecting-IP') ?? ''
  if (!said.includes(':')) return said || 'unknown'
  if (!URL.canParse(`http://[${said}]`)) return 'unknown'
  const canonical = new URL(`http://[${said}]`).hostname.slice(1, -1)
  const halves = canonical.split('::').map((half) => half.split(':').filter(Boolean))
  const [head, tail] = [halves[0]!, halves[1] ?? []]
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return groups.slice(0, 5).join() === '0,0,0,0,0' && groups[5] === 'ffff'
    ? groups.slice(6).join(':')
    : `${groups.slice(0, 4).join(':')}::/64`
}
