// The paths of the API that several tools call.
export const PROJECT = '/api/projects/:project_id'
export const EXPORT = `${PROJECT}/batch_exports/:export_id` as const
export const ORGANIZATION = '/api/organizations/:organization_id'
