const PARAMETER = 'tracking_data'

/** The most characters of a visitor's query that a landing page gets. */
const MAX_PASSED_LENGTH = 2000

/**
 * Returns the URL of a landing page with `tracking_data` as its last query parameter, replacing any
 * that is present. The rest of the URL is unchanged, byte for byte. Before `tracking_data` come the
 * parameters of `visitorQuery`, such as `?gclid=1`, that the landing page does not have.
 */
export function withTracking(
  landingPage: string,
  tracking_data: string,
  visitorQuery = '',
): string {
  const [address = '', ...fragment] = landingPage.split('#')
  const [page = '', ...query] = address.split('?')
  const own = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(PARAMETER))
  const parameters = [...own, ...passedParameters(visitorQuery, own)]
  const target = `${page}?${[...parameters, `${PARAMETER}=${tracking_data}`].join('&')}`
  return fragment.length > 0 ? `${target}#${fragment.join('#')}` : target
}

/** Returns the parameters of a visitor that may be added to those of the landing page. */
function passedParameters(visitorQuery: string, own: readonly string[]): string[] {
  const taken = new Set([PARAMETER, ...own.map(comparedName)])
  const passed: string[] = []
  let length = 0
  // Some servers also separate parameters by semicolons: `a=1;tracking_data=…` would be two of them.
  for (const pair of visitorQuery.replace(/^\?/, '').replaceAll(';', '%3B').split('&')) {
    if (pair === '' || taken.has(comparedName(pair))) continue
    length += pair.length + 1
    if (length > MAX_PASSED_LENGTH) break
    passed.push(pair)
  }
  return passed
}

/**
 * Returns the name of a parameter as servers compare it. Some ignore letter case, and PHP takes
 * `tracking.data` and `tracking_data[]` for `tracking_data`: a visitor could replace ours.
 */
function comparedName(pair: string): string {
  const [name = ''] = new URLSearchParams(pair).keys()
  return name
    .trim()
    .toLowerCase()
    .replace(/[[\0].*$/s, '')
    .replaceAll(/[ .]/g, '_')
}
