import { unstable_readConfig } from 'wrangler'

/** The environments of wrangler.toml. The first, the top level, is the one of `wrangler dev`. */
export const ENVIRONMENTS = [undefined, 'staging', 'production'] as const

/** The settings of an environment that our scripts read. */
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

/** Returns the settings of one environment, as wrangler reads them. */
export const configOf = (env: string | undefined): Config =>
  unstable_readConfig({ config: 'wrangler.toml', ...(env && { env }) })
