-- Whoever follows the log of an export asks twice a second for its lines after an id. By the id alone that was a look at every
-- line that all exports had written since: the planner takes lines of different exports to be well mixed.
ALTER TABLE batch_export_log DROP CONSTRAINT batch_export_log_pkey, ADD PRIMARY KEY (batch_export_id, id);
