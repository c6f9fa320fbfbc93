/**
 * Returns the Content-Security-Policy of pages with their own scripts, styles and requests. No other page
 * can put them in a frame (clickjacking), and injected markup cannot send a form to another origin.
 * `forms` is where their own forms may be sent.
 */
export const contentSecurityPolicy = (forms: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action ${forms}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
