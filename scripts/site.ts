import { buildSite } from './docs/site/build.ts'

// Builds the documentation site. Wrangler and Vitest run this before the Worker needs it.

export { buildSite }

buildSite()
