import { unstable_readConfig } from 'wrangler'

/** The environments of wrangler.toml; the first is what `wrangler dev` runs. */
export const ENVIRONMENTS = [undefined, 'staging', 'production'] as const

/** As much of an environment as our scripts look at. */
interface Config {
  compatibility_date: string
  d1_databases: {
    binding: string
    migrations_dir: string
    database_name: string
    database_id: string
  }[]
  durable_objects: { bindings: { name: string; class_name: string }[] }
  exports: unknown
  queues: {
    producers: { binding: string; queue: string }[]
    consumers: { queue: string; max_batch_size: number; max_retries: number }[]
  }
  triggers: { crons: string[] }
  assets: unknown
  build: unknown
  secrets: unknown
  vars: Record<string, unknown>
  observability: unknown
  upload_source_maps: boolean
}

/** One environment of wrangler.toml, as wrangler reads it. */
export const configOf = (env: string | undefined): Config =>
  unstable_readConfig({ config: 'wrangler.toml', ...(env && { env }) })
