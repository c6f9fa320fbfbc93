-- Figures say what they are compared with their thresholds.
UPDATE fraud_cases SET figures = (
  SELECT json_group_array(json_set(value, '$.comparison', CASE
    WHEN value ->> 'name' = 'days_with_trading' THEN 'less_than'
    WHEN value ->> 'name' IN ('signups_of_a_day', 'signups_of_an_hour', 'share_of_a_country',
      'growth_of_the_share', 'drawdown', 'max_drawdown', 'payout', 'lots_of_a_day',
      'profit_or_loss_of_a_day', 'earned', 'earned_by_volume_of_charges',
      'earned_by_volume_of_net_deposits') THEN 'more_than'
    ELSE 'at_least' END)) FROM json_each(figures));

UPDATE fraud_findings SET figures = (
  SELECT json_group_array(json_set(value, '$.comparison', CASE
    WHEN value ->> 'name' = 'days_with_trading' THEN 'less_than'
    WHEN value ->> 'name' IN ('signups_of_a_day', 'signups_of_an_hour', 'share_of_a_country',
      'growth_of_the_share', 'drawdown', 'max_drawdown', 'payout', 'lots_of_a_day',
      'profit_or_loss_of_a_day', 'earned', 'earned_by_volume_of_charges',
      'earned_by_volume_of_net_deposits') THEN 'more_than'
    ELSE 'at_least' END)) FROM json_each(figures))
WHERE figures IS NOT NULL;
