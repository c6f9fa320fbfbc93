import type * as jsx from 'hono/jsx'
// @ts-expect-error: the types stand at the index, which also brings the renderer for browsers (6 KiB of the Worker).
import * as context from '../../../node_modules/hono/dist/jsx/context.js'

/** Returns a new context: a value that a component hands to all components below it. */
export const createContext: typeof jsx.createContext = context.createContext

/** Returns the value of a context. */
export const useContext: typeof jsx.useContext = context.useContext
