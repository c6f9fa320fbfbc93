import { buildSite } from './docs/site/build.ts'

// Puts the site together: wrangler and vitest run this before the Worker needs it.

export { buildSite }

buildSite()
