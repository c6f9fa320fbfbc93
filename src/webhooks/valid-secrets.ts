/** An encrypted secret of an endpoint, and when it ends in milliseconds; null for the current one. */
export interface StoredSecret {
  readonly encrypted: string
  readonly endsAt: number | null
}

/** Returns the secrets of an endpoint that are valid at `now` (milliseconds), the current one first. */
export const validSecrets = (secrets: string, now: number): StoredSecret[] =>
  (JSON.parse(secrets) as [string, number | null][])
    .map(([encrypted, endsAt]) => ({ encrypted, endsAt }))
    .filter(({ endsAt }) => endsAt === null || endsAt > now)

/** Returns secrets in the form in which an endpoint stores them. */
export const storedSecrets = (secrets: readonly StoredSecret[]): string =>
  JSON.stringify(secrets.map(({ encrypted, endsAt }) => [encrypted, endsAt]))
