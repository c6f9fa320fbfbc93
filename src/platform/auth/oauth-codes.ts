/**
 * The `error` of an OAuth response by status, where RFC 6749 defines a code. Other statuses use the code
 * of the error. A 503 thus gets `temporarily_unavailable` in place of `unavailable`.
 *
 * @see [RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)
 */
export const OAUTH_CODE_BY_STATUS: Record<number, string> = {
  403: 'invalid_request',
  404: 'invalid_request',
  405: 'invalid_request',
  413: 'invalid_request',
  415: 'invalid_request',
  500: 'server_error',
  503: 'temporarily_unavailable',
}
