-- Columns that a run has left out because the destination's table lacked them; null where no table was looked at.
ALTER TABLE batch_export_run ADD COLUMN left_out text[];
