const NAME = 'tracking_data'

/**
 * A landing page with the parameter in its query, in place of one that is there. All else of the
 * address stays as it is, its fragment at the end.
 */
export function withTracking(landing: string, tracking_data: string): string {
  const [address = '', ...fragment] = landing.split('#')
  const [page = '', ...query] = address.split('?')
  const others = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(NAME))
  const target = `${page}?${[...others, `${NAME}=${tracking_data}`].join('&')}`
  return fragment.length > 0 ? `${target}#${fragment.join('#')}` : target
}
