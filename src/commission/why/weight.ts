/** The number of requests that a request for what is computed from records counts as. */
const WEIGHT = 10

const COMPUTED = /^\/(?:lines\/[^/]+\/explain|unearned|qualifications)$/

/** Returns the number of requests that a request to a path of an account counts as; null: not of this kind. */
export const whyWeight = (path: string): number | null => (COMPUTED.test(path) ? WEIGHT : null)
