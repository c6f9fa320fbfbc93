import type { Context } from 'hono'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import type { Member } from '../../platform/auth/roles.ts'
import type { Account } from '../../platform/db/schema.ts'
import { hasAccount } from '../../platform/directory/members.ts'
import {
  type AnswerOf,
  type AnyOperation,
  accountOnce,
  type InputOf,
  pageOfRequest,
  perform,
  performFile,
} from '../../platform/http/operation.ts'
import { mayCall } from '../../platform/http/scope.ts'

/** The administration API, with the role of a member. */
export interface Api {
  /** Reads an account; null if there is none. */
  account(name: string): Promise<Account | null>
  /** Returns whether the member may call an operation. */
  may(of: AnyOperation): boolean
  /**
   * Calls an operation.
   *
   * @throws ApiError that the operation throws.
   */
  call<O extends AnyOperation>(of: O, input: InputOf<O>): Promise<AnswerOf<O>>
  /**
   * Responds with another format of an answer: a CSV, a page to print, or a file for a warehouse.
   *
   * @throws ApiError that the operation throws.
   */
  file<O extends AnyOperation>(of: O, input: InputOf<O>, type: string): Promise<Response>
}

/**
 * Returns the administration API for a member. The console reads and changes data only through it. So
 * whatever a page can do, the API can do, with the same validation, roles, errors and audit log.
 */
export function apiOf(c: Context<AppEnv>, member: Member): Api {
  const { actor, role } = member
  const caller = { member, actor, role, env: c.env, ...pageOfRequest(c) }
  return {
    account: async (name) => (hasAccount(member, name) ? accountOnce(caller, name) : null),
    may: (of) => mayCall(member, of),
    call: (of, input) => perform(of, caller, input),
    file: (of, input, type) => performFile(c, of, caller, { type, input }),
  }
}
