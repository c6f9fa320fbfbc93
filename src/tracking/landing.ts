const PARAMETER = 'tracking_data'

/**
 * Returns the URL of a landing page with `tracking_data` as its last query parameter, replacing any
 * that is present. The rest of the URL is unchanged, byte for byte.
 */
export function withTracking(landingPage: string, tracking_data: string): string {
  const [address = '', ...fragment] = landingPage.split('#')
  const [page = '', ...query] = address.split('?')
  const parameters = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(PARAMETER))
  const target = `${page}?${[...parameters, `${PARAMETER}=${tracking_data}`].join('&')}`
  return fragment.length > 0 ? `${target}#${fragment.join('#')}` : target
}
