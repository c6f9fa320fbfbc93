// The classes of `cloudflare:workers` that files of the service extend, for programs that only read these files.

/** Stands for the class of a Durable Object. */
export class DurableObject {}
/** Stands for the class of a Workflow. */
export class WorkflowEntrypoint {}
