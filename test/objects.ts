import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

// The Durable Objects that a test has used.

/** What test files share that run in one process. */
const shared = globalThis as { usedObjects?: Map<string, UsedObject> }

/** An object that was requested, with its namespace. */
interface UsedObject {
  id: DurableObjectId
  namespace: DurableObjectNamespace
}

/**
 * Records every object that is requested. `listDurableObjectIds` also lists the objects of earlier
 * tests, and waking all of them again after each test takes longer than the tests.
 */
function recordObjects() {
  const usedObjects = new Map<string, UsedObject>()
  const prototype = Object.getPrototypeOf(env.TOKEN_GATE)
  for (const method of ['get', 'getByName'] as const) {
    const original = prototype[method]
    prototype[method] = function (this: DurableObjectNamespace, ...args: unknown[]) {
      const stub = original.apply(this, args)
      usedObjects.set(String(stub.id), { id: stub.id, namespace: this })
      return stub
    }
  }
  return usedObjects
}
shared.usedObjects ??= recordObjects()

/** Every object that was requested since the last empty world, by its id. */
export const { usedObjects } = shared

/** Whether an object was requested since the last empty world. */
export const hasUsedObjects = () => usedObjects.size > 0

/** Up to this number, objects are emptied one by one: a deletion of everything takes as long. */
export const OBJECTS_EMPTIED = 8

/** The number of turns of the event loop in which an emptied object must end. */
const MOST_WAITS = 1000

/** The number of objects that are emptied but not ended. */
let ending = 0

/** Deletes the storage of an object, and its memory with it a moment later. */
export async function emptyObject(state: DurableObjectState) {
  ending += 1
  await state.storage.deleteAlarm()
  await state.storage.deleteAll()
  await state.storage.sync()
  // workerd logs an error if an object ends itself before it has answered.
  setTimeout(() => {
    ending -= 1
    state.abort()
  }, 0)
}

/**
 * Returns the name and the storage of every object that was requested since the last empty world, and
 * empties them if they are few.
 */
export async function takeObjects() {
  const all = [...usedObjects.values()]
  const isEmptying = all.length <= OBJECTS_EMPTIED
  const contents = await Promise.all(
    all.map(({ id, namespace }) =>
      runInDurableObject(namespace.get(id), async (_, state) => {
        const content = { name: state.id.name, stored: [...state.storage.kv.list()] }
        if (isEmptying) await emptyObject(state)
        return content
      }),
    ),
  )
  for (let i = 0; ending > 0 && i < MOST_WAITS; i++) await scheduler.wait(0)
  // An object that another call has ended loses its timer: the next world empties it again.
  if (isEmptying && ending === 0) usedObjects.clear()
  ending = 0
  return contents
}
