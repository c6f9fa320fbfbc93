import { env } from 'cloudflare:workers'
import openapi from '../openapi.json'

interface Operation {
  method: string
  path: string
}

/** Method and path of each operation, by its name in openapi.json. */
export const operations = new Map<string, Operation>(
  Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, { operationId }]) => [operationId, { method: method.toUpperCase(), path }] as const,
    ),
  ),
)

/** Returns the header that authenticates the integrations team. */
export const asTeam = () => ({ Authorization: `Bearer ${env.ADMIN_KEY}` })
