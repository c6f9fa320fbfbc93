import { createSecrets, migrate } from './dev/local.ts'
import './site.ts'

// The `[build]` command of wrangler.toml. It builds the documents; for `wrangler dev` it also creates
// the local secrets and migrates the local databases, at the start and when a watched file changes.

if (process.env.WRANGLER_COMMAND === 'dev') {
  await createSecrets()
  await migrate()
}
