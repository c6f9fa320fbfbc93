import { applyMigrations, createSecrets } from './dev/local.ts'
import './site.ts'

// The `[build]` command of wrangler.toml. It builds the documents; for `wrangler dev` it also creates
// the local secrets and migrates the local databases, at the start and when a watched file changes.

if (process.env.WRANGLER_COMMAND === 'dev') {
  await createSecrets()
  try {
    const migrations = await applyMigrations()
    if (migrations.length > 0) console.log(`Applied ${migrations.join(', ')}.`)
  } catch (error) {
    // Wrangler leaves every request unanswered after a build that fails, so this one succeeds.
    console.error((error as Error).message)
  }
}
