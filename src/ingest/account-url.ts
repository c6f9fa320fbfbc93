import type { Grant } from '../platform/auth/grant.ts'

/** Returns the absolute address of a path of an account's own API, such as `deliveries`. */
export const accountUrl = (env: Env, { vertical }: Pick<Grant, 'vertical'>, path: string): string =>
  new URL(
    `${vertical === 'igaming' ? '/tracking/events' : `/api/v1/${vertical}`}/${path}`,
    env.BASE_URL,
  ).href

/** Returns the address at which the account reads one of its deliveries. */
export const deliveryUrl = (env: Env, grant: Pick<Grant, 'vertical'>, id: string): string =>
  accountUrl(env, grant, `deliveries/${id}`)
