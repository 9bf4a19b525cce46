"""Learning agents: stable-baselines3 PPO and DQN, scored exactly while they train.

Import the modules you need; torch comes with all but ``config``.
"""
