/** The number of requests that one request counts as if its response is computed from records. */
const WEIGHT = 10

const COMPUTED = /^\/(?:lines\/[^/]+\/(?:explain|parts)|unearned(?:\/facts)?|qualifications)$/

/** Returns how many requests a request to a path counts as; null if the path is not one of these. */
export const whyWeight = (path: string): number | null => (COMPUTED.test(path) ? WEIGHT : null)
