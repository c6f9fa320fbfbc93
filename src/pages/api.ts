import type { Context } from 'hono'
import type * as v from 'valibot'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { Member } from '../platform/auth/roles.ts'
import type { Account } from '../platform/db/schema.ts'
import {
  type Answer,
  accountOnce,
  type Call,
  type InputOf,
  type Operation,
  pageOfRequest,
  perform,
  performFile,
  type ReadCall,
} from '../platform/http/operation.ts'
import type { AnswerSchema } from '../platform/http/operation-words.ts'

/** The administration API, with the role of a member. */
export interface Api {
  /** Reads an account; null if there is none. */
  account(name: string): Promise<Account | null>
  /**
   * Calls an operation.
   *
   * @throws ApiError that the operation throws.
   */
  call<
    P extends v.ObjectEntries,
    B extends v.ObjectEntries,
    A extends AnswerSchema,
    C extends Call,
  >(of: Operation<P, B, A, C>, input: InputOf<Operation<P, B, A, C>>): Promise<Answer<A>>
  /**
   * Responds with another format of an answer: a CSV, a page to print, or a file for a warehouse.
   *
   * @throws ApiError that the operation throws.
   */
  file<P extends v.ObjectEntries, B extends v.ObjectEntries, A extends AnswerSchema>(
    of: Operation<P, B, A, ReadCall>,
    input: InputOf<Operation<P, B, A, ReadCall>>,
    type: string,
  ): Promise<Response>
}

/**
 * Returns the administration API for a member. The console reads and changes data only through it. So
 * whatever a page can do, the API can do, with the same validation, roles, errors and audit log.
 */
export function apiOf(c: Context<AppEnv>, member: Member): Api {
  const caller = { ...member, env: c.env, ...pageOfRequest(c) }
  return {
    account: (name) => accountOnce(caller, name),
    call: (of, input) => perform(of, caller, input),
    file: (of, input, type) => performFile(c, of, caller, { type, input }),
  }
}
