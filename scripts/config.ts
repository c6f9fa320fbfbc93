import { createRequire } from 'node:module'

// Scripts that only print their help do not wait for wrangler, which takes a second to load.
const load = createRequire(import.meta.url)

/** The environments of wrangler.toml that are deployed. */
export const DEPLOYED = ['staging', 'production'] as const

/** All of them. The first, the top level, is the one of `wrangler dev`. */
export const ENVIRONMENTS = [undefined, ...DEPLOYED] as const

/** The settings of an environment that our scripts read. */
export interface Config {
  compatibility_date: string
  compatibility_flags: string[]
  d1_databases: {
    binding: string
    migrations_dir: string
    database_name: string
    /** Only at the top level, where it names the local database. */
    database_id?: string
  }[]
  r2_buckets: { binding: string; bucket_name: string; jurisdiction?: string }[]
  durable_objects: { bindings: { name: string; class_name: string }[] }
  workflows: { name: string; binding: string; class_name: string }[]
  exports: Record<string, { type: 'durable-object'; storage: 'sqlite' }>
  queues: {
    producers: { binding: string; queue: string }[]
    consumers: {
      queue: string
      max_batch_size: number
      max_batch_timeout: number
      max_retries: number
      dead_letter_queue?: string
    }[]
  }
  triggers: { crons: string[] }
  assets: {
    directory: string
    binding: string
    run_worker_first: boolean
    html_handling: 'none'
    not_found_handling: 'none'
  }
  secrets: { required: string[] }
  vars: Record<string, unknown>
}

/** Returns the settings of one environment, as wrangler reads them. */
export function configOf(env: string | undefined, path = 'wrangler.toml'): Config {
  const { unstable_readConfig }: typeof import('wrangler') = load('wrangler')
  return unstable_readConfig({ config: path, ...(env && { env }) })
}
