import { pascalCase } from '../../../src/platform/http/operation-words.ts'
import { ENTITIES } from '../entities.ts'
import { documented, object, problem } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { AT, ref } from './operation.ts'

// The schemas of responses other than records.

const OAUTH: Record<string, JsonSchema> = {
  OAuthError: object({
    error: documented('The error code of RFC 6749 §5.2.', {
      type: 'string',
      enum: [
        'invalid_request',
        'invalid_client',
        'invalid_scope',
        'unsupported_grant_type',
        'temporarily_unavailable',
        'server_error',
      ],
    }),
    error_description: documented('A description of this error.'),
  }),
}

/** The records of each vertical, and `AnyRecord`. */
const RECORDS = Object.fromEntries(
  [...Map.groupBy(ENTITIES, ({ vertical }) => vertical), ['any', ENTITIES] as const].map(
    ([vertical, entities]) => [
      `${pascalCase(vertical)}Record`,
      { anyOf: entities.map(({ component }) => ref(component)) },
    ],
  ),
)

/** Returns the schemas of responses that no operation defines, by the names of their components. */
export const answerSchemas = (): Record<string, JsonSchema> => ({
  Problem: problem(AT),
  ...RECORDS,
  ...OAUTH,
})
