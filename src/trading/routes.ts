import { Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { receive } from '../ingest/receive.ts'
import { readable } from '../reading/record-routes.ts'
import type { Resource } from './resource.ts'

/** What a partner may do with any resource: send records, and read them back. */
export const resourceRoutes = (resource: Resource) =>
  new Hono<Caller>()
    .post('/', (c) => receive(c, resource))
    .route('/', readable(resource, 'customer_id'))
